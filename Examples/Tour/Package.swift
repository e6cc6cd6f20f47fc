// swift-tools-version: 6.3
// SPDX-License-Identifier: MIT

import PackageDescription

let package = Package(
    name: "Tour",
    platforms: [.macOS(.v13)],
    products: [.executable(name: "tour", targets: ["Tour"])],
    dependencies: [.package(name: "Curlew", path: "../..")],
    targets: [
        .executableTarget(
            name: "Tour",
            dependencies: [
                .product(name: "Curlew", package: "Curlew"), .product(name: "CurlewSampleAPI", package: "Curlew"),
            ])
    ],
    swiftLanguageModes: [.v6]
)
