// swift-tools-version: 6.3
// SPDX-License-Identifier: MIT

import PackageDescription

// The service that the examples, the tour and `curlew serve` run against: built on the public API alone.
let package = Package(
    name: "SampleAPI",
    platforms: [.iOS(.v16), .macOS(.v13), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [.library(name: "CurlewSampleAPI", targets: ["CurlewSampleAPI"])],
    dependencies: [.package(name: "Curlew", path: "../..")],
    targets: [
        .target(
            name: "CurlewSampleAPI",
            dependencies: [
                .product(name: "Curlew", package: "Curlew"), .product(name: "CurlewTesting", package: "Curlew"),
            ]),
        .testTarget(
            name: "CurlewSampleAPITests",
            dependencies: [
                "CurlewSampleAPI", .product(name: "Curlew", package: "Curlew"),
                .product(name: "CurlewTesting", package: "Curlew"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
