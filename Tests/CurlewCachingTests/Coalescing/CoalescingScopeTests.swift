// SPDX-License-Identifier: MIT

import ConformanceCases
import Testing

@testable import CurlewCaching
@testable import CurlewCore
@testable import CurlewResilience

private enum Comparable: RequestOptions.Key {
    static let defaultValue = 0
}

private enum Incomparable: RequestOptions.Key {
    static let defaultValue: (@Sendable () -> Void)? = nil
}

/// A credential source whose user can change.
private struct Acting: Interceptor {
    @TaskLocal static var user: String?

    let traits = InterceptorTraits(placement: .authentication) { _, _ in
        switch Self.user {
        case nil: .anonymous
        case "?": .unknown
        case let name?: .known(name, isLasting: true)
        }
    }

    func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        try await next(request)
    }
}

/// The same with one user for the process.
private struct Signed: Interceptor {
    let user: Locked<String>

    var traits: InterceptorTraits {
        InterceptorTraits(placement: .authentication) { _, _ in .known(user.withLock { $0 }, isLasting: true) }
    }

    func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        var request = request
        request.headers["X-User"] = user.withLock { $0 }
        return try await next(request)
    }
}

/// Which calls share, and which do not.
@Suite(.timeLimit(.minutes(2)))
struct CoalescingScopeTests {
    typealias Call = Request<HTTPResponse>

    /// How many requests leave when these are in progress together.
    func requests(_ calls: [Call], _ pipeline: Pipeline = [.coalescing()]) async throws -> Int {
        let sharing = Sharing(pipeline)
        var tasks: [Task<HTTPResponse, any Error>] = []
        for call in calls { tasks.append(try await sharing.begin(call)) }
        sharing.origin.open()
        for task in tasks { _ = try await task.value }
        return sharing.origin.sent.count
    }

    @Test("Requests that differ in what selects a response are not shared")
    func differences() async throws {
        let plain = Call(.get, "/x")
        let others: [Call] = [
            Call(.get, "/y"), Call(.get, "/x", query: ["a": 1]), Call(.head, "/x"),
            Call(.get, url: "https://other.example/v1/x"),
            plain.header(.accept, "text/plain"), plain.header(.range, "bytes=0-1"), plain.header(.ifNoneMatch, "\"1\""),
            plain.header(.authorization, "Bearer a"), plain.header(.cookie, "a=b"),
            plain.options { $0.skipsContentDecoding = true }, plain.options { $0.limits = Limits(responseBody: 5) },
            plain.options { $0.timeouts = Timeouts(firstByte: .seconds(1)) },
            plain.options { $0.authentication = .anonymous },
            plain.options { $0.isIdempotent = true }, plain.options { $0[Comparable.self] = 1 },
        ]
        for other in others {
            #expect(try await requests([plain, other]) == 2, "\(other.path) \(other.headers)")
            #expect(try await requests([other, other]) == 1, "\(other.path) \(other.headers)")
        }
    }

    @Test("Requests that differ in nothing that selects a response are shared")
    func noDifferences() async throws {
        let plain = Call(.get, "/x").header("A", "1").header("B", "2")
        let others: [Call] = [
            Call(.get, "/x").header("b", "2").header("a", "1"), plain.header("traceparent", "00-1"),
            plain.header("X-Request-ID", "7"), plain.options { $0.acceptedStatuses = [.notFound] },
            plain.options { $0.redirects = .manual },
            plain.options { $0.timeouts = Timeouts(connect: nil, firstByte: nil, idle: nil, total: .seconds(1)) },
        ]
        for other in others { #expect(try await requests([plain, other]) == 1, "\(other.headers)") }
        #expect(try await requests([plain, plain.header("X-Screen", "7")]) == 2)
        #expect(try await requests([plain, plain.header("X-Screen", "7")], [.coalescing(ignoring: ["X-Screen"])]) == 1)
        // What is a secret is never left out.
        let secret = plain.header(.authorization, "Bearer a")
        #expect(try await requests([plain, secret], [.coalescing(ignoring: [.authorization])]) == 2)
        let declared: Pipeline = [.redirects(.standard.keeping(secret: [.xRequestID])), .coalescing()]
        #expect(try await requests([plain, plain.header(.xRequestID, "7")], declared) == 2)
    }

    @Test("Requests that must not be shared never are")
    func never() async throws {
        let calls: [Call] = [
            Call(.post, "/x"), Call(.put, "/x"), Call(.delete, "/x"), Call(HTTPMethod(rawValue: "get"), "/x"),
            Call(.get, "/x").options { $0.streaming = true }, Call(.get, "/x").options { $0.coalesces = false },
            Call(.get, "/x").options { $0[Incomparable.self] = {} },
            Call(.query, "/x", body: .text("q")),
        ]
        for call in calls { #expect(try await requests([call, call]) == 2, "\(call.method) \(call.headers)") }
    }

    @Test("Two principals never share, and neither shares with an unknown one")
    func principals() async throws {
        let sharing = Sharing([.coalescing(), Acting()])
        var calls: [Task<Int, any Error>] = []
        for user in ["ann", "bob", nil, "?", "ann", "bob", nil, "?"] {
            calls.append(try await Acting.$user.withValue(user) { try await sharing.begin(1)[0] })
        }
        #expect(sharing.origin.sent.count == 5)
        sharing.origin.open()
        for call in calls { _ = try await call.value }
    }

    @Test("A response is not shared if another user has signed in meanwhile")
    func signIn() async throws {
        let user = Locked("ann")
        let origin = GatedOrigin { .answer($0.headers["X-User"] ?? "") }
        let joins = JoinObserver()
        let client = APIClient.testing(origin, pipeline: [.coalescing(), Signed(user: user)], observers: [joins])
        let calls = (0..<10).map { _ in Task { try await client.send(Request<String>.get("/x")) } }
        try await joins.tally.reaches(9)
        try await origin.sent.reaches(1)
        user.withLock { $0 = "bob" }
        origin.open()
        var answers: [String: Int] = [:]
        for call in calls { answers[try await call.value, default: 0] += 1 }
        #expect(answers == ["ann": 1, "bob": 9])
        #expect(origin.sent.count > 1)
    }

    @Test("On a clock that skips waits a shared exchange still waits")
    func skippedWaits() async throws {
        let origin = GatedOrigin { _ in .answer("x") }
        let joins = JoinObserver()
        let client = APIClient.testing(
            origin, pipeline: [.coalescing()], observers: [joins], time: ManualClock.skippingWaits)
        let calls = (0..<2).map { _ in Task { try await client.send(Request<String>.get("/x")) } }
        try await joins.tally.reaches(1)
        try await origin.sent.reaches(1)
        origin.open()
        for call in calls { #expect(try await call.value == "x") }
    }

    @Test("Clients with other interceptors never share, also with this interceptor in common")
    func chains() async throws {
        let sharing = Sharing()
        let clients = [
            sharing.client, sharing.client.with(headers: [:]), sharing.client.with(options: RequestOptions()),
            sharing.client.adding(.attemptTimeout(.seconds(1))), sharing.client.adding(.attemptTimeout(.seconds(1))),
            APIClient.testing(
                sharing.origin, pipeline: sharing.client.pipeline, configuration: sharing.client.configuration),
        ]
        var calls: [Task<Int, any Error>] = []
        for client in clients {
            let before = sharing.origin.sent.count + sharing.joins.tally.count
            calls.append(Task { try await client.send(Request<Int>.get("/x")) })
            try await yieldUntil { sharing.origin.sent.count + sharing.joins.tally.count != before }
        }
        #expect(sharing.origin.sent.count == 4)
        sharing.origin.open()
        for call in calls { _ = try await call.value }
    }

    @Test("A writer sees its own write: no call joins an exchange that began before")
    func readYourWrites() async throws {
        let origin = GatedOrigin { _ in .answer("1") }
        let joins = JoinObserver()
        let client = APIClient.testing(
            RecordingTransport { request, context in
                request.method == .get ? try await origin.send(request, in: context) : .answer("0")
            }, pipeline: [.coalescing()], configuration: APIClient.Configuration(observers: [joins]))
        let before = Task { try await client.send(Request<Int>.get("/x")) }
        try await origin.sent.reaches(1)
        _ = try await client.send(Request<Int>(.put, "/x"))
        let after = (0..<2).map { _ in Task { try await client.send(Request<Int>.get("/x")) } }
        try await joins.tally.reaches(1)
        // A call may join before the exchange that it joins has reached the origin.
        try await origin.sent.reaches(2)
        origin.open()
        #expect(try await before.value == 1)
        for call in after { #expect(try await call.value == 1) }
    }

    @Test("No text in a value makes two keys equal", arguments: 0..<20 as Range<UInt64>)
    func keys(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        // Few characters, so that the same text comes about with other borders, and one letter in two spellings.
        let alphabet = ["a", "b", ":", " ", ",", ";", "\t", "\u{E9}", "e\u{301}", "A"]
        func text() -> String {
            (0..<Int.random(in: 1...3, using: &random)).map { _ in alphabet.randomElement(using: &random) ?? "" }
                .joined()
        }
        var seen: [CoalescingKey: [[UInt8]]] = [:]
        for _ in 0..<400 {
            var headers = HTTPHeaders()
            let chain = Chain([Acting()], ClosureTransport(changesPrincipal: false) { _, _ in HTTPResponse() })
            for _ in 0..<Int.random(in: 0...2, using: &random) { headers.append("A", text()) }
            let request = try HTTPRequest(url: "https://a.example/" + (Bool.random(using: &random) ? "a" : "ab"))
            let context = ExchangeContext()
            let user = Bool.random(using: &random) ? text() : nil
            var changed = request
            changed.headers = headers
            let next = Next(context: context, chain: chain)
            let parts =
                [Array(request.target.utf8), user.map { Array($0.utf8) } ?? [0]]
                + headers.map { Array($0.value.utf8) }
            let key = try Acting.$user.withValue(user) { try #require(CoalescingKey(changed, next, ignoring: [])) }
            if let other = seen[key] { #expect(other == parts, "seed \(seed)") }
            seen[key] = parts
        }
        #expect(seen.count > 100)
    }

    @Test("Two users' concurrent calls share no exchange, by each kind of identity")
    func leaks() async throws {
        var (calls, leaks) = (0, [String]())
        for way in IdentityWay.all where way.source != .client {
            await Task.yield()
            let sharing = Sharing(way.pipeline(with: .coalescing())) { way.answer(to: $0, "private") }
            var tasks: [(user: String, task: Task<String, any Error>)] = []
            for user in ["ann", "bob"] {
                calls += 1
                let task = try await IdentityWay.$user.withValue(user) { try await sharing.begin(way.call()) }
                tasks.append((user, task))
            }
            sharing.origin.open()
            for (user, task) in tasks {
                let answer = try await task.value
                if answer != user { leaks.append("\(way): \(user) got the response of \(answer)") }
            }
        }
        #expect(calls == (Placement.allCases.count * 2 * 2 + 1) * 60 * 2)
        #expect(leaks.count == 0, "\(leaks.count) leaks in \(calls) calls; first: \(leaks.prefix(3))")
    }
}
