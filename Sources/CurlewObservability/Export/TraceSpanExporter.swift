// SPDX-License-Identifier: MIT

import CurlewCore

/// Receives the finished spans of a `CallTracer`.
///
/// `export` is called on the thread that ended the span, for several spans concurrently, and while locks of the client
/// are held. It must return soon, and must not call a client: it stores the span, and a task sends it later.
/// `OTLPExporter` does that.
public protocol TraceSpanExporter: Sendable {
    /// Receives a finished span, once. A request ends before its call, unless its body is read after the call.
    func export(_ span: TraceSpan)
}

/// An exporter that keeps spans in memory, for tests.
///
///     let spans = MemorySpanExporter()
///     let client = APIClient.mock(pipeline: [.tracing(to: spans)]) { … }
public final class MemorySpanExporter: TraceSpanExporter {
    private struct State {
        var spans: [TraceSpan] = []
        var dropped = 0
    }

    private let limit: Int
    private let state = Locked(State())

    /// Creates an exporter that keeps the first `limit` spans. Default 10,000.
    public init(limit: Int = 10_000) {
        self.limit = max(0, limit)
    }

    /// Keeps the span, or counts it as dropped.
    public func export(_ span: TraceSpan) {
        state.withLock { state in
            if state.spans.count < limit { state.spans.append(span) } else { state.dropped += 1 }
        }
    }

    /// The spans in the order in which they ended.
    public var spans: [TraceSpan] { state.withLock { $0.spans } }

    /// The number of spans that were dropped because the exporter was full.
    public var dropped: Int { state.withLock { $0.dropped } }

    /// Removes all spans and returns them.
    @discardableResult
    public func removeAll() -> [TraceSpan] {
        state.withLock { state in
            defer { state.spans = [] }
            return state.spans
        }
    }
}
