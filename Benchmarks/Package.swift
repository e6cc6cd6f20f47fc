// swift-tools-version: 6.3
// SPDX-License-Identifier: MIT

import PackageDescription

let package = Package(
    name: "CurlewBenchmarks",
    platforms: [.macOS(.v15)],
    products: [.library(name: "CurlewMallocCounter", type: .dynamic, targets: ["CMallocCounter"])],
    dependencies: [.package(name: "Curlew", path: "..")],
    targets: [
        .target(name: "CMallocCounter"),
        .executableTarget(
            name: "CurlewPipelineCost",
            dependencies: [
                .product(name: "Curlew", package: "Curlew"), .product(name: "CurlewTesting", package: "Curlew"),
            ]),
        .executableTarget(
            name: "CurlewJSONBenchmark", dependencies: [.product(name: "CurlewJSON", package: "Curlew")]),
        .executableTarget(name: "CurlewSocketBenchmark", dependencies: [.product(name: "Curlew", package: "Curlew")]),
        .executableTarget(
            name: "CurlewRecordBenchmark",
            dependencies: [
                .product(name: "Curlew", package: "Curlew"), .product(name: "CurlewTesting", package: "Curlew"),
                .product(name: "CurlewJSON", package: "Curlew"),
            ]),
        // It needs three of these. The others are there because this package is the release build of `Scripts/test`.
        .executableTarget(
            name: "CurlewInstructions",
            dependencies: [
                "Curlew", "CurlewJSON", "CurlewRecording", "CurlewTesting", "CurlewTracing", "CurlewUI",
                "CurlewURLSession",
            ].map { .product(name: $0, package: "Curlew") }),
        .target(name: "CTrust"),
        .executableTarget(
            name: "CurlewBenchmarks",
            dependencies: [
                "CTrust", .product(name: "Curlew", package: "Curlew"),
                .product(name: "CurlewJSON", package: "Curlew"), .product(name: "CurlewSQLite", package: "Curlew"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)

// What is measured is the transport of Linux, by the counters of its kernel.
#if !os(Linux)
package.targets.removeAll {
    ["CurlewBenchmarks", "CurlewSocketBenchmark", "CurlewInstructions"].contains($0.name)
}
#endif
