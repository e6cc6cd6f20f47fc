// swift-tools-version: 6.3
// SPDX-License-Identifier: MIT

import PackageDescription

let package = Package(
    name: "swift-log", platforms: [.macOS(.v15)], products: [.library(name: "Logging", targets: ["Logging"])],
    targets: [.target(name: "Logging")])
