// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore
@testable import CurlewRecording

@Suite(.timeLimit(.minutes(1)))
struct RecordStoreTests {
    @Test("Calls of many clients that end in any order find their records")
    func store() throws {
        let recorder = FlightRecorder(capacity: 300)
        var contexts = (0..<300).map { _ in ExchangeContext() }
        contexts.shuffle()
        let request = try HTTPRequest(url: "https://a.test/")
        for context in contexts { recorder.store { $0.began(request, in: context) } }
        for context in contexts.reversed() {
            recorder.store {
                $0.succeeded(request, with: HTTPResponse(status: .ok), after: .seconds(1), in: context)
            }
        }
        #expect(recorder.records.count == 300)
        #expect(recorder.records.allSatisfy { $0.outcome == .response(.ok) })
    }

    @Test("More names than the table of verdicts has entries are redacted by their own rules")
    func names() throws {
        let filter = FieldFilter(.standard)
        var random = SeededGenerator(seed: 7)
        for round in 0..<3000 {
            var headers = HTTPHeaders()
            let number = Int.random(in: 0..<600, using: &random)
            headers.append(HTTPField.Name("X-Field-\(number)"), "shown-\(round)")
            let isSecret = Bool.random(using: &random)
            if isSecret { headers.append(.authorization, "secret-\(round)") }
            headers.append(HTTPField.Name("X-Token-\(number)-Token"), "secret-\(round)")
            let result = filter.headers(headers).headers
            #expect(result[HTTPField.Name("X-Field-\(number)")] == "shown-\(round)")
            let secrets = result.filter { $0.value.contains("secret") }
            #expect(secrets.isEmpty, "\(headers.map(\.name.text))")
        }
    }

    @Test("A call that waits in the pipeline is recorded with its URL, after a failure with headers")
    func waiting() async throws {
        let recorder = FlightRecorder()
        let (entered, gate) = (SharedResult<Void>(), SharedResult<Void>())
        let client = APIClient.testing(
            MockTransport { $0.onAny { _ in HTTPResponse(status: .ok) } }, baseURL: "https://a.test",
            pipeline: [BlockingInterceptor(entered: entered, gate: gate), .recording(recorder)])
        async let call: Void = client.send(
            .get("/slow", query: ["token": "hidden"], headers: ["Authorization": "Bearer hidden"]))
        try await entered.wait()
        let running = try #require(recorder.har().entries.first)
        #expect(running.request.url.contains("https://a.test/slow?token="))
        #expect(!running.request.url.contains("hidden") && running.facts?.request == 0)
        gate.finish(.failure(NetworkError(.timedOut(.total))))
        _ = try? await call
        let ended = try #require(recorder.har().entries.first)
        let value = ended.request.headers.first { $0.name == "Authorization" }?.value
        #expect(value != nil && value != "Bearer hidden" && ended.facts?.failed == true)
    }

    private struct BlockingInterceptor: Interceptor {
        let entered: SharedResult<Void>
        let gate: SharedResult<Void>

        func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
            entered.finish(.success(()))
            try await gate.wait()
            return try await next(request)
        }
    }
}
