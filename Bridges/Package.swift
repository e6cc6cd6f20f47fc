// swift-tools-version: 6.3
// SPDX-License-Identifier: MIT

import PackageDescription

// The bridges of Curlew's traits, compiled with stubs of the packages that they connect, and tested: nothing is fetched.
// Here they are outside of the package Curlew, so that they see its public API alone. Their names differ from those of
// Curlew's own targets, which are empty without traits.
func bridge(_ trait: String, to product: String, of package: String) -> Target {
    .target(
        name: "\(trait)Bridge",
        dependencies: [
            .product(name: "Curlew", package: "Curlew"), .product(name: "CurlewTracing", package: "Curlew"),
            .product(name: product, package: package),
        ],
        path: "Curlew\(trait)", swiftSettings: [.define(trait)])
}

let package = Package(
    name: "CurlewBridges",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Curlew", path: ".."), .package(path: "Stubs/swift-log"), .package(path: "Stubs/swift-metrics"),
        .package(path: "Stubs/swift-distributed-tracing"), .package(path: "Stubs/swift-service-lifecycle"),
        .package(path: "Stubs/swift-http-types"), .package(path: "Stubs/swift-openapi-runtime"),
    ],
    targets: [
        bridge("SwiftLog", to: "Logging", of: "swift-log"),
        bridge("SwiftMetrics", to: "CoreMetrics", of: "swift-metrics"),
        bridge("SwiftDistributedTracing", to: "Tracing", of: "swift-distributed-tracing"),
        bridge("ServiceLifecycle", to: "ServiceLifecycle", of: "swift-service-lifecycle"),
        // Two bridges, of which one imports the other: by Curlew's name for it, which is an empty module here.
        .target(
            name: "OpenAPIRuntimeBridge",
            dependencies: [
                .product(name: "Curlew", package: "Curlew"), .product(name: "CurlewHTTPTypes", package: "Curlew"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "OpenAPIRuntime", package: "swift-openapi-runtime"),
            ],
            path: ".",
            exclude: [
                "CurlewServiceLifecycle", "CurlewSwiftDistributedTracing", "CurlewSwiftLog", "CurlewSwiftMetrics",
                "Stubs", "Tests",
            ],
            swiftSettings: [.define("HTTPTypes"), .define("OpenAPIRuntime")]),
        .testTarget(
            name: "BridgeTests",
            dependencies: [
                "SwiftLogBridge", "SwiftMetricsBridge", "SwiftDistributedTracingBridge", "ServiceLifecycleBridge",
                "OpenAPIRuntimeBridge", .product(name: "CurlewTesting", package: "Curlew"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)

// As in the manifest of Curlew.
let features: [SwiftSetting] = [
    "ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility", "InferIsolatedConformances",
    "NonisolatedNonsendingByDefault",
].map { .enableUpcomingFeature($0) }

for target in package.targets {
    target.swiftSettings = (target.swiftSettings ?? []) + features
}
