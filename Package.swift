// swift-tools-version: 6.3
// SPDX-License-Identifier: MIT

import PackageDescription

// Values and parsers, and the kernel over them: what each module above it imports.
let values: [Target.Dependency] = ["CurlewFoundation", "CurlewHTTP"]
let kernel: [Target.Dependency] = values + ["CurlewCore"]

// What `import Curlew` brings beside the kernel.
let capabilities: [Target.Dependency] = [
    "CurlewAuthentication", "CurlewCaching", "CurlewCookies", "CurlewObservability", "CurlewResilience",
    "CurlewStreams", "CurlewTransfers",
]

// Systems with Apple's Foundation, and those besides Linux with the open one: URLSession is their transport.
let apple: [Platform] = [.iOS, .macCatalyst, .macOS, .tvOS, .watchOS, .visionOS]
let others: [Platform] = [.android, .custom("freebsd"), .openbsd, .windows]

// What tests import beside the module that they test.
let testSupport: [Target.Dependency] =
    kernel + capabilities + ["CurlewJSON", "CurlewTesting", "ConformanceCases", "TestFixtures", "TestServers"]

// A bridge is a module over the public API, without content unless its trait is on. The package in Bridges compiles them
// against stubs of the other packages, and tests them.
struct Bridge {
    let trait: String
    let summary: String
    let enables: Set<String>
    let target: Target

    /// - `products`: the products that the bridge imports, by their packages.
    init(_ trait: String, to products: [String: String], enables: Set<String> = [], _ summary: String) {
        self.trait = trait
        self.summary = summary
        self.enables = enables
        target = .target(
            name: "Curlew\(trait)",
            dependencies: ["Curlew", "CurlewTracing"] + enables.map { .target(name: "Curlew\($0)") }
                + products.map { .product(name: $0.value, package: $0.key, condition: .when(traits: [trait])) },
            path: "Bridges/Curlew\(trait)", packageAccess: false)
    }
}

let bridges = [
    Bridge("SwiftLog", to: ["swift-log": "Logging"], "The log of a client as entries of swift-log."),
    Bridge("SwiftMetrics", to: ["swift-metrics": "CoreMetrics"], "The metrics of clients as those of swift-metrics."),
    Bridge(
        "SwiftDistributedTracing", to: ["swift-distributed-tracing": "Tracing"],
        "Spans of the tracer that is installed in swift-distributed-tracing."),
    Bridge(
        "ServiceLifecycle", to: ["swift-service-lifecycle": "ServiceLifecycle"],
        "A service of swift-service-lifecycle that drains a client."),
    Bridge("HTTPTypes", to: ["swift-http-types": "HTTPTypes"], "Messages as those of swift-http-types, and back."),
    Bridge(
        "OpenAPIRuntime", to: ["swift-openapi-runtime": "OpenAPIRuntime", "swift-http-types": "HTTPTypes"],
        enables: ["HTTPTypes"], "A transport for clients that swift-openapi-generator generates."),
]

let package = Package(
    name: "Curlew",
    platforms: [.iOS(.v16), .macOS(.v13), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [
        .library(name: "Curlew", targets: ["Curlew"]),
        .library(name: "CurlewURLSession", targets: ["CurlewURLSession"]),
        .library(name: "CurlewSQLite", targets: ["CurlewSQLite"]),
        .library(name: "CurlewUI", targets: ["CurlewUI"]),
        .library(name: "CurlewJSON", targets: ["CurlewJSON"]),
        .library(name: "CurlewRecording", targets: ["CurlewRecording"]),
        .library(name: "CurlewTracing", targets: ["CurlewTracing"]),
        .library(name: "CurlewTesting", targets: ["CurlewTesting"]),
    ] + bridges.map { .library(name: $0.target.name, targets: [$0.target.name]) },
    traits: Set(bridges.map { .trait(name: $0.trait, description: $0.summary, enabledTraits: $0.enables) }),
    // SwiftPM fetches none of them unless an enabled trait uses it, and all traits are off by default.
    dependencies: [
        .package(url: "https://github.com/apple/swift-log.git", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-metrics.git", from: "2.5.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing.git", from: "1.2.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.6.0"),
        .package(url: "https://github.com/apple/swift-http-types.git", from: "1.3.0"),
        .package(url: "https://github.com/apple/swift-openapi-runtime.git", from: "1.5.0"),
    ],
    targets: bridges.map(\.target) + [
        // L6: what test targets import.
        .target(name: "CurlewTesting", dependencies: kernel + capabilities + ["CurlewJSON", "CurlewRecording"]),

        // L5: what users import.
        .target(
            name: "Curlew",
            dependencies: kernel + capabilities + [
                "CurlewJSON",
                .target(name: "CurlewCurl", condition: .when(platforms: [.linux])),
                .target(name: "CurlewURLSession", condition: .when(platforms: apple + others)),
            ]),

        // L4: engines and stores. The second one is opt-in on Linux, and the umbrella's elsewhere.
        .target(
            name: "CurlewCurl", dependencies: kernel + [.target(name: "CCurl", condition: .when(platforms: [.linux]))]),
        .target(name: "CurlewURLSession", dependencies: kernel),
        .target(
            name: "CurlewSQLite",
            dependencies: kernel + [
                "CurlewCaching", .target(name: "CSQLite", condition: .when(platforms: [.linux] + others)),
            ]),

        // State for user interfaces; opt-in.
        .target(name: "CurlewUI", dependencies: kernel + ["CurlewCaching", "CurlewTransfers"]),

        // L3: the capabilities: interceptors beside each other, which share nothing but the kernel.
        .target(name: "CurlewAuthentication", dependencies: kernel),
        .target(name: "CurlewCaching", dependencies: kernel),
        .target(name: "CurlewCookies", dependencies: kernel),
        .target(name: "CurlewObservability", dependencies: kernel),
        .target(name: "CurlewResilience", dependencies: kernel),
        .target(name: "CurlewStreams", dependencies: kernel + ["CZlib"]),
        .target(name: "CurlewTransfers", dependencies: kernel),
        // Those that `import Curlew` does not bring.
        .target(name: "CurlewRecording", dependencies: kernel + ["CurlewJSON"]),
        .target(name: "CurlewTracing", dependencies: kernel),

        // L2: the kernel: messages, the pipeline, typed calls, redirects and retries.
        .target(
            name: "CurlewCore",
            dependencies: values + [
                "CurlewJSON", .target(name: "CCrypto", condition: .when(platforms: [.linux] + others)),
            ]),

        // L1: HTTP vocabulary and sans-I/O codecs.
        .target(name: "CurlewHTTP", dependencies: ["CurlewFoundation"]),

        // L1: the fast decoder of JSON; values, nothing asynchronous.
        .target(name: "CurlewJSON", dependencies: ["CurlewFoundation", "CStack"]),

        // L0: Foundation's values and the C library under one name.
        .target(name: "CurlewFoundation"),

        // Where the stack of a thread ends, in C.
        .target(name: "CStack"),

        // The shim over libcurl's variadic calls.
        .target(name: "CCurl", linkerSettings: [.linkedLibrary("curl", .when(platforms: [.linux]))]),

        // The system's libcrypto.
        .target(name: "CCrypto", linkerSettings: [.linkedLibrary("crypto", .when(platforms: [.linux] + others))]),

        // The shim over the system's zlib, whose calls are macros.
        .target(name: "CZlib", linkerSettings: [.linkedLibrary("z")]),

        // The system's SQLite.
        .target(name: "CSQLite", linkerSettings: [.linkedLibrary("sqlite3")]),

        .testTarget(name: "CurlewHTTPTests", dependencies: testSupport),
        .testTarget(name: "CurlewJSONTests", dependencies: ["CurlewFoundation", "CurlewJSON"]),
        .testTarget(name: "CurlewCoreTests", dependencies: testSupport),
        .testTarget(name: "CurlewAuthenticationTests", dependencies: testSupport),
        .testTarget(name: "CurlewCachingTests", dependencies: testSupport),
        .testTarget(name: "CurlewCookiesTests", dependencies: testSupport),
        .testTarget(name: "CurlewObservabilityTests", dependencies: testSupport),
        .testTarget(name: "CurlewRecordingTests", dependencies: testSupport + ["CurlewRecording"]),
        .testTarget(name: "CurlewResilienceTests", dependencies: testSupport),
        .testTarget(name: "CurlewStreamsTests", dependencies: testSupport),
        .testTarget(name: "CurlewTestingTests", dependencies: testSupport + ["CurlewRecording"]),
        .testTarget(name: "CurlewTracingTests", dependencies: testSupport + ["CurlewTracing"]),
        .testTarget(name: "CurlewTransfersTests", dependencies: testSupport),
        .testTarget(name: "CurlewUITests", dependencies: testSupport + ["CurlewUI"]),
        .testTarget(name: "CurlewURLSessionTests", dependencies: testSupport + ["CurlewURLSession"]),
        .testTarget(name: "CurlewSQLiteTests", dependencies: testSupport + ["CurlewSQLite", "CacheStoreProbe"]),
        .testTarget(
            name: "CurlewCurlTests",
            dependencies: testSupport + ["CurlewCurl", "CTestSupport", "TokenFileProbe", "TransferProbe"]),

        // What holds over several modules: presets, deadlines, the order of events, secrets.
        .testTarget(name: "CurlewTests", dependencies: testSupport + ["CurlewRecording"]),

        // The conformance suite on every engine.
        .testTarget(name: "ConformanceTests", dependencies: testSupport + ["CurlewCurl", "CurlewURLSession"]),

        // Endpoints, a transport and a body for unit tests.
        .target(
            name: "TestFixtures", dependencies: kernel + ["CurlewJSON", "CurlewTesting"], path: "Tests/TestFixtures"),

        // The cases that every transport and every store of a cache has to pass.
        .target(
            name: "ConformanceCases", dependencies: kernel + capabilities + ["CurlewTesting", "TestFixtures"],
            path: "Tests/ConformanceCases"),

        // Servers beside MockServer: nginx, HTTP/2 and TLS by Python, proxies, bare sockets; and certificates.
        .target(
            name: "TestServers",
            dependencies: kernel + ["CurlewResilience", "CurlewTesting", "ConformanceCases", "CTestSupport"],
            path: "Tests/TestServers",
            exclude: [
                "fulltusserver.py", "h2server.py", "pageserver.py", "tusserver.py",
                "websocketserver.py", "wsprotoserver.py", "websocketserver.mjs",
            ]),

        // The snippets of the documentation, in a plain module and (those of the first week) in one of the main actor.
        .testTarget(
            name: "SnippetTests",
            dependencies: [
                "Curlew", "CurlewJSON", "CurlewSQLite", "CurlewTesting", "CurlewUI", "CurlewURLSession",
                "CurlewRecording", "CurlewTracing",
            ]),
        .testTarget(
            name: "SnippetMainActorTests", dependencies: ["Curlew", "CurlewTesting"],
            swiftSettings: [.defaultIsolation(MainActor.self)]),

        // A program that only imports Curlew, to see what that links.
        .executableTarget(name: "LinkageProbe", dependencies: ["Curlew"], path: "Tests/LinkageProbe"),

        // A program that writes to a store and reads from it, to be killed while it does.
        .executableTarget(
            name: "CacheStoreProbe", dependencies: ["CurlewCaching", "CurlewSQLite", "TestFixtures"],
            path: "Tests/CacheStoreProbe"),

        // A program that is signed in by a file which others use too, to be killed while it renews.
        .executableTarget(name: "TokenFileProbe", dependencies: ["Curlew"], path: "Tests/TokenFileProbe"),

        // A program that uploads a file, to be killed while it does.
        .executableTarget(name: "TransferProbe", dependencies: ["Curlew"], path: "Tests/TransferProbe"),

        // C for tests: name lookups that hang until they are released, child processes that inherit nothing.
        .target(name: "CTestSupport", path: "Tests/CTestSupport"),

        // Names of other modules, imported beside ours.
        .target(name: "NameStubs", path: "Tests/NameStubs"),
        .testTarget(name: "NameClashTests", dependencies: ["Curlew", "CurlewTesting", "NameStubs"]),

        // The same conformers twice: in a module built as an app's is by default, and in one with our features.
        .target(
            name: "IsolationPlain", dependencies: ["CurlewCore", "CurlewAuthentication"],
            path: "Tests/IsolationSupport/Plain"),
        .target(
            name: "IsolationApproachable", dependencies: ["CurlewCore", "CurlewAuthentication"],
            path: "Tests/IsolationSupport/Approachable"),
        .testTarget(
            name: "IsolationTests",
            dependencies: ["CurlewCore", "CurlewTesting", "IsolationPlain", "IsolationApproachable"]),
    ],
    swiftLanguageModes: [.v6]
)

// The tests of the engine of Linux. The engine itself is in every manifest: a Mac may build for Linux.
#if !os(Linux)
package.targets.removeAll { $0.name == "CurlewCurlTests" }
#endif

// What a store for apps asks for: which of Apple's functions that need a reason a module calls, and the reason. For a
// module with a resource, SwiftPM generates code that imports Foundation, so there is none on Linux.
for target in package.targets
where ["CurlewCore", "CurlewSQLite", "CurlewTesting", "CurlewTransfers"].contains(target.name) {
    #if os(Linux)
    target.exclude.append("PrivacyInfo.xcprivacy")
    #else
    target.resources = [.process("PrivacyInfo.xcprivacy")]
    #endif
}

// One list of upcoming features for every Swift target, so that no module differs in how closures and imports behave.
let features: [SwiftSetting] = [
    "ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility", "InferIsolatedConformances",
    "NonisolatedNonsendingByDefault",
].map { .enableUpcomingFeature($0) }

for target in package.targets
where !["CCurl", "CStack", "CZlib", "CTestSupport", "IsolationPlain"].contains(target.name) {
    target.swiftSettings = (target.swiftSettings ?? []) + features
}
