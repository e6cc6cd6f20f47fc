// SPDX-License-Identifier: MIT

import Testing

@Suite(.timeLimit(.minutes(1)))
struct DecodingErrorTests {
    /// The names of events, each of which has a payload whose label is that name.
    static func labels() -> EventLog<String> {
        EventLog { event, _ in
            if case .failed(let error, _) = event { return "failed \(error.label)" }
            return Mirror(reflecting: event).children.first?.label
        }
    }

    struct Own: Endpoint {
        struct Refusal: Error {}
        typealias Response = Int
        var path: RequestPath { "/own" }
        func decode(_ response: HTTPResponse, using codecs: Codecs) async throws -> Int { throw Refusal() }
    }

    func error<Value>(_ request: Request<Value>, _ text: String, type: String = "application/json") async throws
        -> NetworkError
    {
        let client = APIClient.answering(.ok, text, type: type)
        return try #require(await client.failure(request))
    }

    @Test func theDescriptionShowsPlaceTypeExcerptAndRequest() async throws {
        let error = try await error(.people, #"[{"id":1,"name":"Ann"},{"id":"two","name":"Bob"}]"#)
        #expect(error.reason == .decoding)
        let description = error.description
        #expect(description.contains("$[1].id"))
        #expect(description.contains("Array<Person>"))
        #expect(description.contains("\"two\""))
        #expect(description.contains("GET https://api.example/v1/people  (people)"))
        #expect(error.underlying is DecodingError)
        #expect(!error.message.contains("Person"))
    }

    @Test(arguments: ["{", "", "null", #"{"id":1}"#, "[1", "\u{FEFF}{}x", #"{"id":1e999,"name":"x"}"#])
    func malformedResponsesAreErrorsAndTheClientStaysUsable(text: String) async throws {
        let client = APIClient.testing(
            ClosureTransport { request, _ in .answer(request.target.hasSuffix("bad") ? text : Person.annJSON) })
        let error = try #require(await client.failure(Request<Person>.get("/bad")))
        #expect([.decoding, .badResponse].contains(error.reason))
        #expect(error.response?.body == Data(text.utf8))
        #expect(try await client.send(.person(id: 1)) == .ann)
    }

    @Test func longBodiesAreKeptInPart() async throws {
        let text = "[" + String(repeating: "1,", count: 20_000) + "x"
        let error = try await error(Request<[Int]>.get("/x"), text)
        #expect(error.response?.body.count == Limits.standard.errorExcerpt)
        #expect(error.response?.isTruncated == true)
    }

    @Test func errorsOfACustomDecodeAreKeptAsTheCause() async throws {
        let client = APIClient.answering()
        let error = try #require(await client.failure(Own()))
        #expect(error.reason == .interceptor)
        #expect(error.underlying is Own.Refusal)
        #expect(error.routeName == "Own")
        #expect(error.request != nil)
    }

    @Test func aBodyOverTheLimitIsOneErrorAndTheLimitCanBeRaised() async throws {
        let chunk = Data(repeating: 0x20, count: 1000)
        let client = APIClient.testing(
            ClosureTransport { _, context in
                let source = ChunkSource(Array(repeating: chunk, count: 10))
                return HTTPResponse(
                    body: ResponseBody(source, limit: context.limits.responseBody, length: nil))
            }, configuration: APIClient.Configuration(limits: Limits(responseBody: 9_999)))
        let call = Request<Data>.get("/big")
        let error = await client.failure(call)
        #expect(error?.reason == .limitExceeded(.responseBody))
        #expect(error?.routeName != nil)
        let raised = call.options { $0.limits = Limits(responseBody: 10_000) }
        #expect(try await client.send(raised).count == 10_000)
    }

    @Test func observersReceiveAFailureToDecodeAndNoSuccess() async throws {
        let observer = Self.labels()
        let client = APIClient.testing(RecordingTransport(.ok, "nonsense"), observers: [observer])
        _ = await client.failure(.person(id: 1))
        #expect(observer.entries == ["began", "sent", "answered", "measured", "failed decoding"])
    }
}

extension DecodingErrorTests {
    @Test func observersReceiveACallThatCouldNotBeBuilt() async throws {
        let observer = Self.labels()
        let client = APIClient.testing(RecordingTransport(), observers: [observer])
        let call = Request<Person>.get("/a/../b")
        _ = await client.failure(call)
        #expect(observer.entries == ["failed invalidRequest"])
        #expect(throws: NetworkError.self) { try client.request(for: call) }
        #expect(observer.entries.count == 1)
    }
}
