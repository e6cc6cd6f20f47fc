// SPDX-License-Identifier: MIT

import CurlewTracing

/// What the tests of tracing share.
enum Tracing {
    static let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    /// A client over a mock whose calls are traced.
    static func client(
        _ spans: MemorySpanExporter, pipeline: Pipeline = [], options: CallTracer.Options = CallTracer.Options(),
        configuration: APIClient.Configuration = APIClient.Configuration(), _ configure: (MockTransport) -> Void
    ) -> APIClient {
        .mock(pipeline: pipeline.adding(.tracing(to: spans, options: options)), configuration: configuration, configure)
    }
}

extension MemorySpanExporter {
    /// Everything that the spans hold, members of the contexts included.
    var text: String {
        var text = ""
        dump(spans, to: &text)
        return text
    }

    var calls: [TraceSpan] { spans.filter { $0.kind == .internal } }

    /// The requests on the wire, in the order in which they were sent.
    var requests: [TraceSpan] {
        spans.filter { $0.kind == .client }.sorted { $0.number < $1.number }
    }
}

extension TraceSpan {
    /// The number of a request within its call.
    var number: Int {
        if case .int(let count) = self["http.request.resend_count"] { Int(count) + 1 } else { 1 }
    }

    func text(_ key: String) -> String? {
        switch self[key] {
        case .string(let text): text
        case .int(let number): "\(number)"
        case nil: nil
        }
    }

    var isError: Bool { status != .unset }

    /// The relation of the first link, such as `retry`.
    var relation: String? {
        guard case .string(let text) = links.first?.attributes.first?.value else { return nil }
        return text
    }
}

extension RecordedRequest {
    /// The identifier of the request in its `traceparent`.
    var sentContext: TraceContext? { TraceContext(headers: request.headers) }
}
