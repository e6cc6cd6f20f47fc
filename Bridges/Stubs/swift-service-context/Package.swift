// swift-tools-version: 6.3
// SPDX-License-Identifier: MIT

import PackageDescription

let package = Package(
    name: "swift-service-context", platforms: [.macOS(.v15)],
    products: [.library(name: "ServiceContextModule", targets: ["ServiceContextModule"])],
    targets: [.target(name: "ServiceContextModule")])
