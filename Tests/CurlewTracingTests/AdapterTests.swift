// SPDX-License-Identifier: MIT

import TestServers
import Testing

/// The listings of the page on tracing for other packages, type-checked against stubs of these packages.
@Suite(.timeLimit(.minutes(3)))
struct AdapterTests {
    /// The names of the modules, with the part of their interfaces that the listings use.
    private static let stubs = [
        "Logging": """
        public struct Logger: Sendable {
            public typealias Metadata = [String: MetadataValue]
            public enum MetadataValue: ExpressibleByStringInterpolation, Sendable {
                case string(String)
                public init(stringLiteral value: String) { self = .string(value) }
            }
            public struct MetadataProvider: Sendable {
                public init(_ provideMetadata: @escaping @Sendable () -> Metadata) {}
            }
        }
        """,
        "Metrics": """
        public final class Counter: Sendable {
            public init(label: String, dimensions: [(String, String)] = []) {}
            public func increment<DataType: BinaryInteger>(by amount: DataType) {}
        }
        public final class Timer: Sendable {
            public init(label: String, dimensions: [(String, String)] = []) {}
            public func recordNanoseconds(_ duration: Int64) {}
        }
        """,
        "Tracing": """
        public struct ServiceContext: Sendable {
            @TaskLocal public static var current: ServiceContext?
        }
        public protocol Injector: Sendable {
            associatedtype Carrier
            func inject(_ value: String, forKey key: String, into carrier: inout Carrier)
        }
        public protocol Instrument: Sendable {
            func inject<Carrier, Inject>(_ context: ServiceContext, into carrier: inout Carrier, using injector: Inject)
            where Inject: Injector, Inject.Carrier == Carrier
        }
        struct NoOp: Instrument {
            func inject<Carrier, Inject>(_ context: ServiceContext, into carrier: inout Carrier, using injector: Inject)
            where Inject: Injector, Inject.Carrier == Carrier {}
        }
        public enum InstrumentationSystem {
            public static var instrument: any Instrument { NoOp() }
        }
        """,
    ]

    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The listing of the page that imports a module.
    private static func listing(_ module: String) throws -> String? {
        let page = root.appendingPathComponent("Documentation/Curlew.docc/Articles/TracingCalls.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        return text.components(separatedBy: "```swift\n").dropFirst()
            .compactMap { $0.components(separatedBy: "\n```").first }.first { $0.contains("import \(module)\n") }
    }

    /// The flags that let the compiler find the modules of this package beside the tests; nil if they are not there.
    private static func flags() throws -> [String]? {
        #if os(Linux)
        let manager = FileManager.default
        let tests = try manager.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let folder = URL(fileURLWithPath: tests).deletingLastPathComponent()
        let modules = folder.appendingPathComponent("Modules").path
        guard manager.fileExists(atPath: modules + "/Curlew.swiftmodule") else { return nil }
        let maps = try manager.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".build") }
            .map { folder.appendingPathComponent($0).appendingPathComponent("module.modulemap").path }
            .filter { manager.fileExists(atPath: $0) }
        return ["-I", modules] + maps.flatMap { ["-Xcc", "-fmodule-map-file=\($0)"] }
        #else
        // The listings do not depend on the platform, so one is enough.
        return nil
        #endif
    }

    private static func compile(_ listing: String, with stub: (name: String, text: String)) throws {
        guard let compiler = try? Program.path("swiftc"), let flags = try flags() else {
            return print("AdapterTests: not checked, because swiftc or the modules of Curlew are not there")
        }
        let folder = try TemporaryFolder()
        let source = try folder.file("\(stub.name).swift", Data(stub.text.utf8))
        let place = URL(fileURLWithPath: source).deletingLastPathComponent().path
        try Program.run(
            compiler,
            [
                "-emit-module", "-parse-as-library", "-swift-version", "6", "-module-name", stub.name, source, "-o",
                "\(place)/\(stub.name).swiftmodule",
            ])
        let adapter = try folder.file("Adapter.swift", Data(listing.utf8))
        try Program.run(
            compiler,
            ["-typecheck", "-parse-as-library", "-swift-version", "6", "-warnings-as-errors", "-I", place, adapter]
                + flags)
    }

    @Test("The compiler accepts the listing", arguments: ["Logging", "Metrics", "Tracing"])
    func listings(module: String) async throws {
        let listing = try #require(try Self.listing(module))
        let stub = try #require(Self.stubs[module])
        #expect(listing.split(separator: "\n").count < 25)
        try await onThread { try Self.compile(listing, with: (module, stub)) }
    }

    @Test("The compiler refuses a listing with an error")
    func refusal() async throws {
        guard (try? Program.path("swiftc")) != nil, try Self.flags() != nil else { return }
        let listing = try #require(try Self.listing("Logging")).replacingOccurrences(of: "traceID", with: "noSuchName")
        let stub = try #require(Self.stubs["Logging"])
        await #expect(throws: Program.Failure.self) {
            try await onThread { try Self.compile(listing, with: ("Logging", stub)) }
        }
    }
}
