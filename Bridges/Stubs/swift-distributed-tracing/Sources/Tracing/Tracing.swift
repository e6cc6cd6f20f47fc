// SPDX-License-Identifier: MIT
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// The declarations of swift-distributed-tracing 1.3 that the bridge and its tests use, written from its documentation.

@_exported public import Instrumentation
@_exported public import ServiceContextModule

public protocol TracerInstant: Comparable, Hashable, Sendable {
    var nanosecondsSinceEpoch: UInt64 { get }
}

public struct DefaultTracerClock: Sendable {
    public struct Timestamp: TracerInstant {
        public let nanosecondsSinceEpoch: UInt64

        public static func < (left: Timestamp, right: Timestamp) -> Bool {
            left.nanosecondsSinceEpoch < right.nanosecondsSinceEpoch
        }
    }

    /// Times are of no interest here.
    public static var now: Timestamp { Timestamp(nanosecondsSinceEpoch: 0) }
}

public protocol Tracer: Instrument {
    associatedtype Span: Tracing.Span

    func startSpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> Self.Span
    func forceFlush()
}

extension Tracer {
    public func startSpan(
        _ operationName: String, context: @autoclosure () -> ServiceContext = .current ?? .topLevel,
        ofKind kind: SpanKind = .internal, at instant: @autoclosure () -> some TracerInstant = DefaultTracerClock.now,
        function: String = #function, file fileID: String = #fileID, line: UInt = #line
    ) -> Self.Span {
        startSpan(
            operationName, context: context(), ofKind: kind, at: instant(), function: function, file: fileID, line: line
        )
    }
}

public protocol Span: Sendable {
    var context: ServiceContext { get }
    var operationName: String { get nonmutating set }
    var attributes: SpanAttributes { get nonmutating set }
    var isRecording: Bool { get }
    func setStatus(_ status: SpanStatus)
    func recordError<Instant: TracerInstant>(
        _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant)
    func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant)
}

extension Span {
    public func recordError(_ error: any Error) {
        recordError(error, attributes: SpanAttributes([:]), at: DefaultTracerClock.now)
    }

    public func end() { end(at: DefaultTracerClock.now) }
}

public enum SpanKind: Sendable {
    case server, client, producer, consumer, `internal`
}

public struct SpanStatus: Equatable, Sendable {
    public enum Code: Sendable {
        case ok, error
    }

    public let code: Code
    public let message: String?

    public init(code: Code, message: String? = nil) {
        self.code = code
        self.message = message
    }
}

public enum SpanAttribute: Equatable, Sendable {
    case int32(Int32)
    case int64(Int64)
    case double(Double)
    case bool(Bool)
    case string(String)
    case stringArray([String])
}

public struct SpanAttributes: Equatable, Sendable {
    private var attributes: [String: SpanAttribute]

    public init(_ attributes: [String: SpanAttribute]) { self.attributes = attributes }

    public func get(_ name: String) -> SpanAttribute? { attributes[name] }

    public mutating func set(_ name: String, value: SpanAttribute?) { attributes[name] = value }

    public mutating func merge(_ other: SpanAttributes) {
        attributes.merge(other.attributes) { _, new in new }
    }

    public func forEach(_ callback: (String, SpanAttribute) -> Void) {
        attributes.forEach { callback($0.key, $0.value) }
    }
}

public struct NoOpTracer: Tracer {
    public init() {}

    public func startSpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> NoOpSpan { NoOpSpan(context: context()) }

    public func forceFlush() {}

    public func extract<Carrier, Extract>(
        _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
    ) where Extract: Extractor, Extract.Carrier == Carrier {}

    public func inject<Carrier, Inject>(
        _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject: Injector, Inject.Carrier == Carrier {}

    public struct NoOpSpan: Tracing.Span {
        public let context: ServiceContext
        public var operationName: String {
            get { "noop" }
            nonmutating set {}
        }
        public var attributes: SpanAttributes {
            get { SpanAttributes([:]) }
            nonmutating set {}
        }
        public var isRecording: Bool { false }

        public func setStatus(_ status: SpanStatus) {}
        public func recordError<Instant: TracerInstant>(
            _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
        ) {}
        public func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {}
    }
}

extension InstrumentationSystem {
    public static var tracer: any Tracer { instrument as? any Tracer ?? NoOpTracer() }
}
