// swift-tools-version: 6.3
// SPDX-License-Identifier: MIT

import PackageDescription

let package = Package(
    name: "swift-http-types", platforms: [.macOS(.v15)],
    products: [.library(name: "HTTPTypes", targets: ["HTTPTypes"])],
    targets: [.target(name: "HTTPTypes")])
