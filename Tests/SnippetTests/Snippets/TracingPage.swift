// SPDX-License-Identifier: MIT

import Curlew
import CurlewTracing

// What the page on tracing shows.

/// Keeps finished spans until a task of the app sends them.
struct SpanQueue: TraceSpanExporter {
    let spans: AsyncStream<TraceSpan>.Continuation

    func export(_ span: TraceSpan) { spans.yield(span) }
}

enum TracingPage {
    static func make() -> (APIClient, AsyncStream<TraceSpan>) {
        let (spans, queue) = AsyncStream.makeStream(of: TraceSpan.self, bufferingPolicy: .bufferingNewest(2048))
        let exporter = SpanQueue(spans: queue)
        let client = APIClient(baseURL: "https://api.example.com", pipeline: .standard.adding(.tracing(to: exporter)))

        return (client, spans)
    }

    static func share(_ plain: APIClient, _ exporter: SpanQueue, _ partner: Origin) -> APIClient {
        var options = CallTracer.Options(sampler: .ratio(0.1))
        options.redirectOrigins = [partner]
        let tracer = CallTracer(exporter: exporter, options: options)
        let traced = plain.adding(.tracing(tracer))
        print(tracer.statistics.dropped)
        return traced
    }

    func handle(_ received: HTTPHeaders, with client: APIClient) async throws -> String {
        try await TraceContext.with(TraceContext(headers: received)) {
            try await client.send(.get("/films/1"))
        }
    }
}
