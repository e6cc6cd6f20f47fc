// SPDX-License-Identifier: MIT

import CurlewHTTP
import CurlewTesting
import Testing

@testable import CurlewCore
@testable import CurlewRecording

@Suite(.timeLimit(.minutes(1)))
struct CallPlacesTests {
    @Test("the table agrees with a dictionary", arguments: 0..<50 as Range<UInt64>)
    func dictionary(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var places = CallPlaces(capacity: Int.random(in: 1...100, using: &random))
        var model: [UInt64: Int] = [:]
        var next: UInt64 = 1
        for step in 0..<4000 {
            // Other clients take numbers in between, and calls are inserted in another order than they began.
            next += UInt64.random(in: 1...40, using: &random)
            let call = next - min(next - 1, UInt64.random(in: 0...400, using: &random))
            if model[call] == nil {
                places.insert(call, at: step)
                model[call] = step
            }
            if let removed = model.keys.min(), model.count > 100 {
                places.remove(removed)
                model[removed] = nil
            }
            for asked in [call, next, model.keys.min() ?? 1, UInt64.random(in: 1...next, using: &random)] {
                #expect(places.find(asked) == model[asked], "seed \(seed), step \(step)")
            }
        }
    }

    @Test("calls of many clients that end in any order find their records")
    func store() throws {
        let recorder = FlightRecorder(capacity: 300)
        var contexts = (0..<300).map { _ in ExchangeContext() }
        // More calls than the table has entries lie between the first and the last one.
        for _ in 0..<3000 { _ = ExchangeContext() }
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

    @Test("more names than the table of verdicts has entries are redacted by their own rules")
    func names() throws {
        var filter = FieldFilter(.standard)
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

    @Test("a call that waits in the pipeline is recorded with its URL, and with its headers once it has failed")
    func waiting() async throws {
        let recorder = FlightRecorder()
        let (entered, gate) = (SharedResult<Void>(), SharedResult<Void>())
        let client = APIClient(
            baseURL: "https://a.test",
            pipeline: [BlockingInterceptor(entered: entered, gate: gate), .recording(recorder)],
            transport: MockTransport { $0.onAny { _ in HTTPResponse(status: .ok) } })
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
