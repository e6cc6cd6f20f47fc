// swift-tools-version: 6.3
// SPDX-License-Identifier: MIT

import PackageDescription

let package = Package(
    name: "swift-metrics", platforms: [.macOS(.v15)],
    products: [.library(name: "CoreMetrics", targets: ["CoreMetrics"])],
    targets: [.target(name: "CoreMetrics")])
