// SPDX-License-Identifier: MIT

import ConformanceCases
import CurlewAuthentication
import CurlewTracing
import Testing

/// Sixty fields by which real services know their users, against everything that a span holds.
@Suite(.timeLimit(.minutes(1)))
struct TracingSecretTests {
    private static let canary = "hunter2"

    @Test("No span holds a value under any of 500 names", arguments: SecretNames.groups)
    func names(group: [String]) async throws {
        let spans = MemorySpanExporter()
        let client = Tracing.client(
            spans, pipeline: [.redirects(), .retry(.attempts(2))], options: CallTracer.Options(recordsUserAgent: true),
            configuration: APIClient.Configuration(time: ManualClock.skippingWaits)
        ) {
            $0.onAny { try SecretNames.answer(group, to: $0.request) }
        }
        _ = await SecretNames.send(group, by: client)
        #expect(SecretNames.leaks(in: spans.text) == [] && spans.text.contains("/refused"))
    }

    @Test("Declared secrets are redacted in paths, items and messages")
    func declared() async throws {
        let spans = MemorySpanExporter()
        var fields = Redaction.Rules()
        fields.secretMembers = ["patient"]
        fields.secretPaths = ["/reset/*"]
        let client = Tracing.client(spans, configuration: APIClient.Configuration(fields: fields)) {
            $0.fail(with: NetworkError(.badResponse, detail: "patient=\(Self.canary) is unknown"))
        }
        _ = try? await client.send(Request<Void>.get("/reset/hunter2").query(["patient": Self.canary]))
        let text = spans.text
        #expect(!text.contains(Self.canary) && text.contains("/reset/REDACTED?patient=REDACTED"))
        #expect(text.contains("patient=REDACTED"))
    }

    @Test("Values of tracestate are in no attribute, event or name")
    func carried() async throws {
        let spans = MemorySpanExporter()
        let client = Tracing.client(spans) { $0.onAny { _ in .status(204) } }
        let call = Request<Void>.get("/").header("traceparent", Tracing.parent).header("tracestate", "a=\(Self.canary)")
        try await client.send(call)
        #expect(client.recordedCalls.first?.request.headers["tracestate"] == "a=hunter2")
        #expect(spans.spans.count == 2 && !spans.text.contains(Self.canary))
    }
}
