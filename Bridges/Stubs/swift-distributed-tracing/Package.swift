// swift-tools-version: 6.3
// SPDX-License-Identifier: MIT

import PackageDescription

let package = Package(
    name: "swift-distributed-tracing", platforms: [.macOS(.v15)],
    products: [
        .library(name: "Instrumentation", targets: ["Instrumentation"]),
        .library(name: "Tracing", targets: ["Tracing"]),
    ],
    dependencies: [.package(path: "../swift-service-context")],
    targets: [
        .target(
            name: "Instrumentation",
            dependencies: [.product(name: "ServiceContextModule", package: "swift-service-context")]),
        .target(name: "Tracing", dependencies: ["Instrumentation"]),
    ])
