// SPDX-License-Identifier: MIT

import CurlewAuthentication
import CurlewCaching
import CurlewObservability
import Testing

@Suite(.timeLimit(.minutes(1)))
struct LoggingNotesTests {
    private final class Log: Sendable {
        let entries = Locked<[LogEntry]>([])

        var kinds: [LogEntry.Kind] { entries.withLock { $0.map(\.kind) } }
        var names: [String] { entries.withLock { $0.compactMap { $0["event.name"] } } }
        var text: String { entries.withLock { $0.map { "\($0)\n" }.joined() } }

        func write(_ entry: LogEntry) { entries.withLock { $0.append(entry) } }
    }

    private struct Kept: TokenStore.Persistence {
        func load() async throws -> Tokens? { Tokens(accessToken: "old-secret", refreshToken: "r-secret") }
        func save(_ tokens: Tokens?) async throws {}
    }

    private let log = Log()

    /// A client whose calls meet a redirect, a failure that is retried, a refused token, and a fresh stored response.
    private func client(_ level: LogEntry.Level) -> APIClient {
        let count = Locked(0)
        let transport = MockTransport {
            $0.on(.get, "/moved") { _ in HTTPResponse(status: .found, headers: [.location: "/users?token=hunter2"]) }
            $0.on(.post, "/token") { _ in .json(text: "{}") }
            $0.on(.get, "/users") { call in
                let number = count.next()
                if call.request.headers[.authorization] == "Bearer old-secret" { return .status(401) }
                if number == 2 { return .status(503) }
                return .json(text: "[]", headers: ["Cache-Control": "max-age=60"])
            }
        }
        let store = TokenStore(Kept())
        let pipeline: Pipeline = [
            .logging(level, sink: log.write), .redirects(), .caching(store: HTTPCache.MemoryStore()),
            .retry(RetryPolicy(attempts: 3, backoff: .constant(.zero))),
            .bearer(store) { refresh in
                try await refresh.client.send(.post("/token"))
                return Tokens(accessToken: "new-secret", refreshToken: "r-secret")
            },
        ]
        return APIClient.testing(transport, baseURL: "https://a.test", pipeline: pipeline)
    }

    @Test("At .line a redirect, a retry and a refresh of tokens are logged as they occur, once each")
    func line() async throws {
        let client = client(.line)
        try await client.send(.get("/moved"))
        #expect(log.names == ["redirect.followed", "retry", "token.renewed", "retry"].sortedLike(log.names))
        #expect(log.names.filter { $0 == "token.renewed" }.count == 1)
        #expect(log.kinds.first == .request)
        #expect(log.kinds.last == .response)
        // The refresh is a call of its own.
        #expect(log.kinds.filter { $0 == .request }.count == 2)
        let last = log.entries.withLock { $0.last }
        #expect(last?["http.response.status_code"] == "200")
        #expect(last?["attempts"] == "4" || last?["attempts"] == "3", "\(last?["attempts"] ?? "none")")
        #expect(last?.severity == .info)
        #expect(!log.text.contains("secret") && !log.text.contains("hunter2"), "\(log.text)")
        try await client.send(.get("/moved"))
        #expect(log.entries.withLock { $0.last?["source"] }?.contains("cache") == true)
    }

    @Test("At .explain every decision and each request on the wire has a line, before the response")
    func explain() async throws {
        try await client(.explain).send(.get("/moved"))
        let names = Set(log.names)
        let expected: Set = ["request", "cache.network", "token.began", "token.renewed", "redirect.followed"]
        #expect(names.isSuperset(of: expected))
        #expect(log.entries.withLock { $0.last?.kind } == .response)
        let lines = log.entries.withLock { $0.filter { $0["event.name"] == "request" }.map(\.lines) }
        #expect(lines.allSatisfy { $0.count == 1 && $0[0].hasPrefix("request ") })
        #expect(!log.text.contains("secret") && !log.text.contains("hunter2"), "\(log.text)")
    }

    @Test func eachNoteHasItsSeverity() {
        func severity(_ kind: LogEntry.Kind, _ name: String, _ value: String) -> LogEntry.Severity {
            LogEntry(kind, exchange: 1, lines: [""], fields: [LogEntry.Field(name, value)]).severity
        }
        #expect(severity(.request, "url.full", "https://a.test") == .debug)
        #expect(severity(.note, "event.name", "retry") == .info)
        #expect(severity(.note, "event.name", "cache.network") == .debug)
        #expect(severity(.response, "http.response.status_code", "200") == .info)
        #expect(severity(.response, "http.response.status_code", "404") == .warning)
        #expect(severity(.failure, "error.type", "cancelled") == .info)
        #expect(severity(.failure, "error.type", "unreachable") == .error)
        #expect(LogEntry.Field("a", "x\ny").value == "x\\ny", "no value can begin a line")
    }

    @Test("A cancelled call has the severity of information")
    func cancelled() async throws {
        let transport = MockTransport { $0.onAny { _ in throw NetworkError(.cancelled) } }
        let client = APIClient.testing(transport, baseURL: "https://a.test", pipeline: [.logging(sink: log.write)])
        await #expect(throws: NetworkError.self) { try await client.send(.get("/")) }
        #expect(log.entries.withLock { $0.last?.severity } == .info)
    }

    @Test("The notes of concurrent calls belong to their calls")
    func concurrent() async throws {
        let client = client(.explain)
        try await withThrowingTaskGroup { group in
            for _ in 0..<20 { group.addTask { try await client.send(.get("/moved")) } }
            try await group.waitForAll()
        }
        let calls = Dictionary(grouping: log.entries.withLock { $0 }, by: \.exchange)
        for entries in calls.values {
            #expect(entries.first?.kind == .request)
            #expect(entries.filter { $0.kind == .response }.count == 1)
            // A refresh may end after the call that began it.
            let end = entries.lastIndex { $0["event.name"]?.hasPrefix("token.") != true }
            #expect(end.map { entries[$0].kind } == .response)
        }
    }
}

extension [String] {
    /// The elements in the order of `other`, as far as they occur there.
    fileprivate func sortedLike(_ other: [String]) -> [String] {
        sorted { (other.firstIndex(of: $0) ?? 99) < (other.firstIndex(of: $1) ?? 99) }
    }
}
