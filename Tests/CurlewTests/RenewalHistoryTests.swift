// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewAuthentication
@testable import CurlewCore
@testable import CurlewObservability

/// Events and logs of a call that is sent again because of a 401.
@Suite(.timeLimit(.minutes(1)))
struct RenewalHistoryTests {
    private let listener = EventLog { event, context -> (id: UInt64, word: String) in
        switch event {
        case .sent(let request): (context.id, "sent \(request.target) by attempt \(context.attempt)")
        case .tried(let attempt): (context.id, "tried \(attempt.outcome), \(attempt.decision.cause)")
        default: (context.id, EventGrammar.word(event))
        }
    }
    private var calls: [UInt64] { Set(listener.entries.map(\.id)).sorted() }
    private let lines = Locked<[String]>([])
    private let store = TokenStore()

    private func heard(_ id: UInt64) -> [String] { listener.entries.filter { $0.id == id }.map(\.word) }

    /// The first token ends at once; `statuses` are the responses to the second.
    private func client(_ pipeline: Pipeline = [], then statuses: HTTPStatus...) -> APIClient {
        let answers = Locked(statuses)
        let lines = lines
        return APIClient.mock(
            pipeline:
                pipeline
                .adding(.logging { entry in lines.withLock { $0.append("\(entry)") } })
                .adding(.bearer(store) { try await $0.client.send(Request<Tokens>.post("/renew").name("Renew")) }),
            configuration: .init(observers: [listener], time: ManualClock.skippingWaits)
        ) {
            $0.on(.post, "/renew", .text(#"{"access_token": "new", "refresh_token": "r"}"#))
            $0.onAny { call in
                if call.request.headers[.authorization] == "Bearer old" { return .status(401) }
                return .status(answers.withLock { $0.isEmpty ? .ok : $0.removeFirst() })
            }
        }
    }

    @Test("A refresh is a separate call, and the repeated call says so in events, history and log")
    func renewal() async throws {
        try await store.signIn(Tokens(accessToken: "old", refreshToken: "r"))
        let response = try await client().response(for: Request<Void>.get("/me"))
        #expect(
            response.attempts.map { "\($0.number) \($0.outcome) \($0.decision.cause)" } == [
                "1 status 401 the credential was refreshed", "2 status 200 a retry would not change the outcome",
            ])
        try #require(calls.count == 2)
        #expect(
            heard(calls[0]) == [
                "began", "sent /me by attempt 1", "answered", "measured", "token", "token",
                "tried status 401, the credential was refreshed", "sent /me by attempt 2", "answered", "measured",
                "succeeded",
            ])
        #expect(
            heard(calls[1])
                == ["began", "sent /renew by attempt 1", "answered", "measured", "succeeded"])
        let log = lines.withLock { $0 }.joined(separator: "\n")
        #expect(log.contains("POST https://mock.test/renew (Renew)"))
        #expect(log.contains(", 2 attempts"))
        #expect(!log.contains("\"new\""))
    }

    @Test("Attempts of a retry and requests after a refresh are counted together")
    func retried() async throws {
        try await store.signIn(Tokens(accessToken: "old", refreshToken: "r"))
        let response = try await client([.retry()], then: 503, .ok).response(for: Request<Void>.get("/me"))
        #expect(
            response.attempts.map { "\($0.number) \($0.outcome) \($0.decision.cause)" } == [
                "1 status 401 the credential was refreshed", "2 status 503 the failure may be temporary",
                "3 status 200 a retry would not change the outcome",
            ])
        #expect(
            heard(calls[0]).filter { $0.hasPrefix("sent") }.map { $0.suffix(1) } == ["1", "2", "3"])
    }

    @Test("A second request that fails reports the first")
    func failure() async throws {
        try await store.signIn(Tokens(accessToken: "old", refreshToken: "r"))
        let client = client()
        let mock = try #require(client.transport as? MockTransport)
        mock.on(.get, "/cut") { call in
            if call.request.headers[.authorization] == "Bearer old" { return .status(401) }
            throw NetworkError(.connectionLost(.requestMayHaveArrived))
        }
        let error = await #expect(throws: NetworkError.self) { try await client.send(Request<Void>.get("/cut")) }
        #expect(error?.attempts.map { "\($0.outcome)" } == ["status 401", "connectionLost requestMayHaveArrived"])
        #expect(error?.description.contains("1: status 401") == true)
    }

    @Test("A log of each request shows its cause, beside a log of each call")
    func requestLog() async throws {
        try await store.signIn(Tokens(accessToken: "old", refreshToken: "r"))
        let (lines, client) = (lines, client([.retry()], then: 503, .ok))
        let wire = Locked<[String]>([])
        let log = LoggingInterceptor(each: .request) { entry in wire.withLock { $0.append("\(entry)") } }
        let both = client.adding(log)
        #expect(both.problems.isEmpty)
        _ = try await both.send(Request<Void>.get("/me").name("Me"))
        let sent = wire.withLock { $0 }
        try #require(sent.count == 6)
        #expect(sent[0].hasSuffix("GET https://mock.test/me (Me)"))
        #expect(sent[1].contains("401 Unauthorized"))
        #expect(sent[2].contains("(Me), attempt 2 (before: status 401 after"))
        #expect(sent[2].contains("because the credential was refreshed)"))
        #expect(sent[4].contains("(Me), attempt 3 (before: status 503 after"))
        #expect(sent[5].contains("200 OK"))
        let calls = lines.withLock { $0 }.filter { $0.contains("(Me)") }
        #expect(calls.count == 1)
    }

    @Test("A challenge that is met is an attempt too")
    func digest() async throws {
        let listener = listener
        let client = APIClient.mock(
            pipeline: [.digest(user: "u", password: "p")], configuration: .init(observers: [listener])
        ) {
            $0.onAny { call in
                if call.request.headers.contains(.authorization) { return .status(200) }
                return .status(
                    401,
                    headers: [.wwwAuthenticate: "Digest realm=\"r\", nonce=\"n\", qop=\"auth\", algorithm=SHA-256"])
            }
        }
        let response = try await client.response(for: Request<Void>.get("/"))
        #expect(response.attempts.map { "\($0.outcome)" } == ["status 401", "status 200"])
        #expect(response.attempts.first?.decision == .retry(after: .zero, because: .challenged))
    }

    @Test("A call without a valid request is logged and described with its method and name")
    func unsent() async throws {
        let client = client()
        let error = await client.failure(Request<Void>.delete("/a/../b").name("Remove"))
        #expect(error?.description.contains("  call      DELETE Remove\n") == true)
        let log = lines.withLock { $0 }
        #expect(log.count == 1)
        #expect(log.first?.contains("DELETE Remove not sent, invalidRequest: The path contains a dot segment") == true)
    }
}
