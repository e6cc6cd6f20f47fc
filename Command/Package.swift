// swift-tools-version: 6.3
// SPDX-License-Identifier: MIT

import PackageDescription

// The command `curlew`, built on the public API alone: what it cannot reach, users of the library cannot reach either.
let package = Package(
    name: "CurlewCommand",
    platforms: [.macOS(.v15)],
    products: [.executable(name: "CurlewCommand", targets: ["CurlewCommand"])],
    dependencies: [
        .package(name: "Curlew", path: ".."), .package(name: "SampleAPI", path: "../Examples/SampleAPI"),
    ],
    targets: [
        .executableTarget(
            name: "CurlewCommand",
            dependencies: [
                .product(name: "Curlew", package: "Curlew"), .product(name: "CurlewRecording", package: "Curlew"),
                .product(name: "CurlewJSON", package: "Curlew"),
                .product(name: "CurlewSampleAPI", package: "SampleAPI"),
            ]),
        .testTarget(
            name: "CurlewCommandTests",
            dependencies: [
                "CurlewCommand", .product(name: "Curlew", package: "Curlew"),
                .product(name: "CurlewJSON", package: "Curlew"), .product(name: "CurlewTesting", package: "Curlew"),
                .product(name: "CurlewSampleAPI", package: "SampleAPI"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
