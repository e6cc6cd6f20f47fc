// SPDX-License-Identifier: MIT

import Curlew

// What the page on tracing shows.

enum TracingPage {
    static func make() async -> APIClient {
        let plain = APIClient(baseURL: "https://api.example.com")
        let exporter = OTLPExporter("http://localhost:4318", service: "films", transport: plain.transport)
        let client = plain.adding(.tracing(to: exporter))

        await exporter.shutdown()  // at the end of the program: sends what waits
        return client
    }

    static func share(_ plain: APIClient, _ exporter: OTLPExporter, _ partner: Origin) -> APIClient {
        var options = CallTracer.Options(sampler: .ratio(0.1))
        options.propagation.redirectOrigins = [partner]
        let tracer = CallTracer(exporter: exporter, options: options)
        let traced = plain.adding(.tracing(tracer))
        print(tracer.statistics.dropped)
        return traced
    }

    static func carry(_ client: APIClient, _ own: Origin) async throws -> CallTracer.Options {
        var options = CallTracer.Options()
        options.propagation.baggageOrigins = [own]
        var baggage = TraceBaggage()
        baggage.set("tenant", "12")
        try await TraceBaggage.with(baggage) { try await client.send(.get("/orders")) }
        return options
    }

    func handle(_ received: HTTPHeaders, with client: APIClient) async throws -> String {
        try await TraceContext.with(TraceContext(headers: received)) {
            try await client.send(.get("/films/1"))
        }
    }
}
