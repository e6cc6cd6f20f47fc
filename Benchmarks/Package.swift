// swift-tools-version: 6.3
// SPDX-License-Identifier: MIT

import PackageDescription

let package = Package(
    name: "CurlewBenchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "Curlew", path: "..")],
    targets: [
        .target(name: "CTrust"),
        .executableTarget(
            name: "CurlewBenchmarks", dependencies: ["CTrust", .product(name: "Curlew", package: "Curlew")]),
    ],
    swiftLanguageModes: [.v6]
)
