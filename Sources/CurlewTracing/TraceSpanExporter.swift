// SPDX-License-Identifier: MIT

import CurlewCore

/// Receives the finished spans of a `CallTracer`.
///
/// `export` is called on the thread that ended the span, for several spans concurrently, and while locks of the client
/// are held. It must return soon, and must not call a client: it stores the span, and a task sends it later.
public protocol TraceSpanExporter: Sendable {
    /// Receives a finished span, once. A request ends before its call, unless its body is read after the call.
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

    /// The first 10,000 spans, in the order in which they ended.
    public var spans: [TraceSpan] { kept.withLock { $0 } }

    /// Removes all spans.
    public func removeAll() {
        kept.withLock { $0 = [] }
    }
}
