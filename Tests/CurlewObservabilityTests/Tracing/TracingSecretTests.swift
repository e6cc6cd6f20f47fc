// SPDX-License-Identifier: MIT

import CurlewAuthentication
import ConformanceCases
import CurlewCore
import CurlewHTTP
import CurlewTesting
import Foundation
import Testing

@testable import CurlewObservability

/// Sixty fields by which real services know their users, against everything that a span holds.
@Suite(.timeLimit(.minutes(1)))
struct TracingSecretTests {
    private static let canary = "hunter2"

    @Test("no span holds the value of a secret field, query item or member", arguments: IdentityWay.names)
    func fields(name: String) async throws {
        let spans = MemorySpanExporter()
        let client = Tracing.client(
            spans, pipeline: [.redirects(), .retry(.attempts(2))], options: CallTracer.Options(recordsUserAgent: true),
            configuration: APIClient.Configuration(time: ManualClock.skippingWaits)
        ) {
            $0.on(.get, "/me", .status(302, headers: [.location: "https://other.test/end?token=\(Self.canary)"]))
            $0.on(
                .get, "/end",
                HTTPResponse(
                    status: 503, headers: [HTTPField.Name(name): Self.canary],
                    body: ResponseBody(Data(#"{"password":"\#(Self.canary)"}"#.utf8))))
        }
        let call = Request<Void>.get("/me").header(HTTPField.Name(name), Self.canary)
            .query(["access_token": Self.canary])
        _ = try? await client.send(call)
        #expect(spans.requests.count == 3 && spans.calls.count == 1)
        let json = String(decoding: OTLPTraceWriter.body(spans.spans, resource: []), as: UTF8.self)
        #expect(!json.contains(Self.canary))
        #expect(json.contains("access_token=REDACTED") && json.contains("token=REDACTED"))
    }

    @Test("what the client declares is redacted, in paths, items and messages")
    func declared() async throws {
        let spans = MemorySpanExporter()
        var fields = FieldRules()
        fields.secretMembers = ["patient"]
        fields.secretPaths = ["/reset/*"]
        let client = Tracing.client(spans, configuration: APIClient.Configuration(fields: fields)) {
            $0.fail(with: NetworkError(.badResponse, detail: "patient=\(Self.canary) is unknown"))
        }
        _ = try? await client.send(Request<Void>.get("/reset/hunter2").query(["patient": Self.canary]))
        let json = String(decoding: OTLPTraceWriter.body(spans.spans, resource: []), as: UTF8.self)
        #expect(!json.contains(Self.canary) && json.contains("/reset/REDACTED?patient=REDACTED"))
        #expect(json.contains("patient=REDACTED"))
    }

    @Test("values of tracestate and baggage are in no attribute, event or name")
    func carried() async throws {
        let spans = MemorySpanExporter()
        let home = try #require(Origin(scheme: "https", host: "mock.test"))
        let client = Tracing.client(
            spans, options: CallTracer.Options(propagation: TracePropagation(baggageOrigins: [home]))
        ) { $0.onAny { _ in .status(204) } }
        var baggage = TraceBaggage()
        baggage.set("user", Self.canary)
        try await TraceBaggage.with(baggage) { try await client.send(.get("/")) }
        #expect(client.recordedCalls.first?.request.headers["baggage"] == "user=hunter2")
        #expect(!String(decoding: OTLPTraceWriter.body(spans.spans, resource: []), as: UTF8.self).contains(Self.canary))
    }
}
