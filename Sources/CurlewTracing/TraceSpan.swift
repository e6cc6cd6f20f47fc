// SPDX-License-Identifier: MIT

import CurlewCore

/// A recorded operation of a trace: a call, or one of its requests on the wire.
///
/// A call is a span of the kind `internal`. Each of its requests is a child of the kind `client`, with the attributes
/// of the stable OpenTelemetry conventions for HTTP client spans. Names and attributes contain no declared secret.
public struct TraceSpan: Hashable, Sendable {
    /// The kind of a span, by the names of OpenTelemetry.
    public enum Kind: Hashable, Sendable {
        /// A call of a client, which sends any number of requests.
        case `internal`
        /// A request on the wire.
        case client
    }

    /// The value of an attribute.
    public enum Value: Hashable, Sendable {
        /// Text.
        case string(String)
        /// A whole number.
        case int(Int64)
    }

    /// An attribute of a span, of an event or of a link.
    public struct Attribute: Hashable, Sendable {
        /// The name, such as `http.request.method`.
        public var key: String
        /// The value.
        public var value: Value

        package init(_ key: String, _ value: Value) {
            self.key = key
            self.value = value
        }
    }

    /// An event during a span, such as a phase of the connection or a decision of the client.
    public struct Event: Hashable, Sendable {
        /// The name, such as `response.head` or `connection.opened`; for an event of a capability, that event's name.
        public var name: String
        /// The time in nanoseconds since 1970.
        public var time: UInt64
        /// The attributes.
        public var attributes: [Attribute]

        package init(_ name: String, time: UInt64, attributes: [Attribute] = []) {
            self.name = name
            self.time = time
            self.attributes = attributes
        }
    }

    /// A reference to another span, such as the previous attempt.
    public struct Link: Hashable, Sendable {
        /// The context of the other span.
        public var context: TraceContext
        /// The attributes: `curlew.link` is `redirect`, `retry`, `hedge`, `resend` or `shared`.
        public var attributes: [Attribute]

        package init(_ context: TraceContext, attributes: [Attribute] = []) {
            self.context = context
            self.attributes = attributes
        }
    }

    /// The status of a span.
    public enum Status: Hashable, Sendable {
        /// The operation did not fail.
        case unset
        /// The operation failed. The message is empty if the attributes contain the cause.
        case error(message: String)
    }

    /// The identifiers of the span.
    public var context: TraceContext
    /// The identifier of the parent in the same trace; nil for the first span of a trace.
    public var parent: TraceContext.SpanID?
    /// The name: the method, or `HTTP` if it is not a known one, and the route if there is one, such as `GET GetUser`.
    public var name: String
    /// The kind of the span.
    public var kind: Kind
    /// The start in nanoseconds since 1970.
    public var start: UInt64
    /// The end in nanoseconds since 1970, not before `start`.
    public var end: UInt64
    /// The attributes, each key at most once.
    public var attributes: [Attribute] = []
    /// The events, at most 128.
    public var events: [Event] = []
    /// The number of events that were dropped after the 128th.
    public var droppedEvents = 0
    /// The links, at most 128. Further ones are dropped.
    public var links: [Link] = []
    /// Whether the operation failed. Default `.unset`.
    public var status = Status.unset

    /// The maximum number of events, and of links.
    static let maximumCount = 128
    /// The maximum length of a text in an attribute, in bytes.
    static let maximumText = 4096

    /// Creates a span that ends when it starts.
    package init(
        _ name: String, kind: Kind, context: TraceContext, parent: TraceContext.SpanID? = nil, start: UInt64
    ) {
        self.name = name
        self.kind = kind
        self.context = context
        self.parent = parent
        self.start = start
        end = start
    }

    /// The value of an attribute; nil if the span has no such attribute. Setting nil removes the attribute.
    public subscript(key: String) -> Value? {
        get { attributes.first { $0.key == key }?.value }
        set {
            let index = attributes.firstIndex { $0.key == key }
            switch (index, newValue) {
            case (let index?, let value?): attributes[index].value = value
            case (let index?, nil): attributes.remove(at: index)
            case (nil, let value?): attributes.append(Attribute(key, value))
            case (nil, nil): break
            }
        }
    }

    /// Appends an event, or counts it as dropped.
    mutating func add(_ event: Event) {
        if events.count < Self.maximumCount { events.append(event) } else { droppedEvents += 1 }
    }

    /// Appends a link, unless there are 128.
    mutating func add(_ link: Link) {
        if links.count < Self.maximumCount { links.append(link) }
    }
}

/// Receives the finished spans of a `CallTracer`.
///
/// `export` is called on the thread that ended the span, for several spans concurrently, and while locks of the client
/// are held. `export` must return soon, and must not call a client: it stores the span, and a task sends it later.
public protocol TraceSpanExporter: Sendable {
    /// Receives a finished span, once. The span of a request comes before that of its call, unless its body ends later.
    func export(_ span: TraceSpan)
}

/// An exporter that keeps spans in memory, for tests.
///
///     let spans = MemorySpanExporter()
///     let client = APIClient.mock(pipeline: [.tracing(to: spans)]) { … }
public final class MemorySpanExporter: TraceSpanExporter {
    private static let limit = 10_000
    private let kept = Locked<[TraceSpan]>([])

    /// Creates an exporter without spans.
    public init() {}

    /// Keeps the span, unless there are 10,000.
    public func export(_ span: TraceSpan) {
        kept.withLock { if $0.count < Self.limit { $0.append(span) } }
    }

    /// The first 10,000 spans since the last `removeAll()`, in the order in which the tracer exported them.
    public var spans: [TraceSpan] { kept.withLock { $0 } }

    /// Removes all spans.
    public func removeAll() {
        kept.withLock { $0 = [] }
    }
}
