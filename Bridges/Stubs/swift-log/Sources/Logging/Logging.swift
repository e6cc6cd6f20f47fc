// SPDX-License-Identifier: MIT
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// The declarations of swift-log 1.6 that the bridge and its tests use, written from its documentation.

/// A logger whose entries its handler receives.
public struct Logger: Sendable {
    public typealias Metadata = [String: MetadataValue]

    public let label: String
    public var handler: any LogHandler

    public init(label: String, factory: (String) -> any LogHandler) {
        self.label = label
        handler = factory(label)
    }

    public var logLevel: Level {
        get { handler.logLevel }
        set { handler.logLevel = newValue }
    }

    public func log(
        level: Level, _ message: @autoclosure () -> Message, metadata: @autoclosure () -> Metadata? = nil,
        source: @autoclosure () -> String? = nil, file: String = #fileID, function: String = #function,
        line: UInt = #line
    ) {
        guard logLevel <= level else { return }
        handler.log(
            level: level, message: message(), metadata: metadata(), source: source() ?? "", file: file,
            function: function, line: line)
    }

    public enum Level: String, CaseIterable, Comparable, Sendable {
        case trace, debug, info, notice, warning, error, critical

        public static func < (left: Level, right: Level) -> Bool {
            (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
        }
    }

    public struct Message: ExpressibleByStringInterpolation, CustomStringConvertible, Equatable, Sendable {
        public let description: String

        public init(stringLiteral value: String) { description = value }
    }

    public enum MetadataValue: ExpressibleByStringInterpolation, Equatable, Sendable {
        case string(String)
        case dictionary(Metadata)
        case array([MetadataValue])

        public init(stringLiteral value: String) { self = .string(value) }
    }

    public struct MetadataProvider: Sendable {
        private let provide: @Sendable () -> Metadata

        public init(_ provideMetadata: @escaping @Sendable () -> Metadata) { provide = provideMetadata }

        public func get() -> Metadata { provide() }
    }
}

public protocol LogHandler: Sendable {
    var metadata: Logger.Metadata { get set }
    var logLevel: Logger.Level { get set }
    subscript(metadataKey key: String) -> Logger.MetadataValue? { get set }
    func log(
        level: Logger.Level, message: Logger.Message, metadata: Logger.Metadata?, source: String, file: String,
        function: String, line: UInt)
}
