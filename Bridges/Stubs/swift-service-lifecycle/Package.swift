// swift-tools-version: 6.3
// SPDX-License-Identifier: MIT

import PackageDescription

let package = Package(
    name: "swift-service-lifecycle", platforms: [.macOS(.v15)],
    products: [.library(name: "ServiceLifecycle", targets: ["ServiceLifecycle"])],
    dependencies: [.package(path: "../swift-log")],
    targets: [.target(name: "ServiceLifecycle", dependencies: [.product(name: "Logging", package: "swift-log")])])
