// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewAuthentication
@testable import CurlewCore

@Suite(.timeLimit(.minutes(1)))
struct BearerInterceptorTests {
    static func origin(_ url: String) throws -> Origin { try HTTPRequest(url: url).origin }

    /// The `Authorization` field that a request to `url` leaves with.
    static func sent(
        to url: String, by bearer: any Interceptor, client: String? = "https://api.test", headers: HTTPHeaders = [:],
        crossedOrigin: Bool = false
    ) async throws -> String? {
        var context = ExchangeContext(clientOrigin: try client.map { try origin($0) })
        context.crossedOrigin = crossedOrigin
        let next = Next(context: context) { request, _ in HTTPResponse(headers: request.headers) }
        let request = try HTTPRequest(url: url, headers: headers)
        return try await bearer.intercept(request, next: next).headers[.authorization]
    }

    @Test("A token is sent to the origin of the client", arguments: ["https://api.test/x", "https://API.test:443/"])
    func own(url: String) async throws {
        #expect(try await Self.sent(to: url, by: .bearer { "t" }) == "Bearer t")
    }

    @Test(
        "A token is never attached to another origin",
        arguments: [
            "https://cdn.test/x", "http://api.test/x", "https://api.test:8443/x", "https://sub.api.test/",
            "https://api.test.evil.test/", "https://api.test./",
        ])
    func otherOrigin(url: String) async throws {
        let asked = Locked(0)
        let bearer = BearerInterceptor {
            asked.withLock { $0 += 1 }
            return "t"
        }
        #expect(try await Self.sent(to: url, by: bearer) == nil)
        #expect(asked.withLock { $0 } == 0, "the source is not even asked")
    }

    @Test("A named origin gets the token, and the client's own origin does not")
    func namedOrigin() async throws {
        let bearer = BearerInterceptor(CredentialScope("https://cdn.test/some/path")) { "t" }
        #expect(try await Self.sent(to: "https://cdn.test/x", by: bearer) == "Bearer t")
        #expect(try await Self.sent(to: "https://api.test/x", by: bearer) == nil)
        #expect(try await Self.sent(to: "https://cdn.test/x", by: bearer, client: nil) == "Bearer t")
    }

    @Test("After a redirect has left the origin no token is attached, not even back at it")
    func crossedOrigin() async throws {
        #expect(try await Self.sent(to: "https://api.test/", by: .bearer { "t" }, crossedOrigin: true) == nil)
        let named = BearerInterceptor(CredentialScope("https://cdn.test")) { "t" }
        #expect(try await Self.sent(to: "https://cdn.test/", by: named, crossedOrigin: true) == nil)
    }

    @Test(
        "A token does not cross the network in plain text unless the http origin was named",
        arguments: [
            ("http://api.test", false), ("http://192.168.1.7:8080", false), ("http://localhost:8080", true),
            ("http://127.0.0.1:8080", true), ("http://[::1]:8080", true), ("https://api.test", true),
        ])
    func plainText(client: String, isAllowed: Bool) async throws {
        let setup = Pipeline.Environment(clientOrigin: try Self.origin(client))
        let implicit = BearerInterceptor { "t" }
        #expect(try await Self.sent(to: client, by: implicit, client: client) == (isAllowed ? "Bearer t" : nil))
        #expect((implicit.problem(in: setup) == nil) == isAllowed)
        let named = BearerInterceptor(CredentialScope(client)) { "t" }
        #expect(try await Self.sent(to: client, by: named, client: client) == "Bearer t")
        #expect(named.problem(in: setup) == nil)
    }

    @Test("A token without an origin is a problem of the pipeline, with advice")
    func noOrigin() async throws {
        let problem = try #require(BearerInterceptor { "t" }.problem(in: Pipeline.Environment()))
        #expect(problem.contains("base URL") && problem.contains(".bearer(for:"))
        #expect(try await Self.sent(to: "https://api.test/", by: .bearer { "t" }, client: nil) == nil)
        let unreadable = BearerInterceptor(CredentialScope("api.test?token=hunter2")) { "t" }
        let reason = try #require(unreadable.problem(in: Pipeline.Environment()))
        #expect(reason.contains("no scheme") && !reason.contains("hunter2"))
        #expect(try await Self.sent(to: "https://api.test/", by: unreadable) == nil)
    }

    @Test("An Authorization field of the call wins, and the source is not asked")
    func callersOwn() async throws {
        let bearer = BearerInterceptor {
            Issue.record("the source was asked")
            return "t"
        }
        let sent = try await Self.sent(to: "https://api.test/", by: bearer, headers: ["authorization": "Basic x"])
        #expect(sent == "Basic x")
    }

    @Test("No token sends the request without one", arguments: [nil, ""] as [String?])
    func noToken(token: String?) async throws {
        #expect(try await Self.sent(to: "https://api.test/", by: .bearer { token }) == nil)
    }

    @Test("A source that throws is a call that is not authenticated, with the cause in it")
    func sourceFails() async throws {
        struct KeychainLocked: Error {}
        let client = APIClient.mock(pipeline: [.bearer { throw KeychainLocked() }]) { $0.onAny { _ in .status(200) } }
        let error = await #expect(throws: NetworkError.self) { try await client.send(GetPerson(id: 1)) }
        #expect(error?.reason == .notAuthenticated(.sourceFailed))
        #expect(error?.underlying is KeychainLocked)
        #expect(error?.isUnauthorized == true)
        #expect(client.recordedCalls.isEmpty)
    }

    @Test("A source that ends because the call was cancelled is a cancelled call")
    func sourceCancelled() async throws {
        struct Interrupted: Error {}
        let clock = ManualClock()
        let client = APIClient.mock(
            pipeline: [
                .bearer {
                    do {
                        try await clock.sleep(for: .seconds(9))
                        return nil
                    } catch { throw Interrupted() }
                }
            ]
        ) { $0.onAny { _ in .status(200) } }
        let call = Task { try await client.send(GetPerson(id: 1)) }
        try await clock.waitForSleepers(1)
        call.cancel()
        let error = await #expect(throws: NetworkError.self) { try await call.value }
        #expect(error?.isCancelled == true)
    }

    @Test(
        "A token that cannot stand in a header fails the call before it is sent, and stays hidden",
        arguments: ["hunter2\r\nX-Injected: 1", "hunter2\n", "hunter2\u{0}"])
    func brokenToken(token: String) async throws {
        let client = APIClient.mock(pipeline: [.bearer { token }]) { $0.onAny { _ in .status(200) } }
        let error = await #expect(throws: NetworkError.self) { try await client.send(GetPerson(id: 1)) }
        #expect(error?.reason == .invalidRequest)
        #expect(error?.description.contains("hunter2") == false)
        #expect(client.recordedCalls.isEmpty)
    }

    @Test(
        "A token of spaces, or of more than 64 KiB, is not sent",
        arguments: [" ", String(repeating: "t", count: 65_537)])
    func unusableToken(token: String) async throws {
        let client = APIClient.mock(pipeline: [.bearer { token }]) { $0.onAny { _ in .status(200) } }
        let error = await #expect(throws: NetworkError.self) { try await client.send(GetPerson(id: 1)) }
        #expect(error?.reason == .notAuthenticated(.sourceFailed) && client.recordedCalls.isEmpty)
    }

    @Test("The source is asked again for each attempt")
    func eachAttempt() async throws {
        let count = Locked(0)
        let bearer = BearerInterceptor {
            count.withLock { count in
                count += 1
                return "t\(count)"
            }
        }
        let client = APIClient.mock(pipeline: [RepeatingInterceptor(times: 2), bearer]) {
            $0.onAny { _ in .status(404) }
        }
        await #expect(throws: NetworkError.self) { try await client.send(GetPerson(id: 1)) }
        #expect(client.recordedCalls.map { $0.request.headers[.authorization] } == ["Bearer t1", "Bearer t2"])
    }

    @Test("A derived client for another origin does not keep the token")
    func derived() async throws {
        let client = APIClient.mock(pipeline: [.bearer { "t" }]) { $0.onAny { _ in .status(404) } }
        let elsewhere = client.with(baseURL: "https://cdn.test")
        await #expect(throws: NetworkError.self) { try await elsewhere.send(GetPerson(id: 1)) }
        #expect(client.recordedCalls.map { $0.request.headers[.authorization] } == [nil])
    }

    @Test("A description names the origin, never the token")
    func description() {
        #expect("\(BearerInterceptor { "hunter2" })" == "Bearer")
        let scoped = BearerInterceptor(CredentialScope("https://cdn.test/x")) { "hunter2" }
        #expect("\(scoped)" == "Bearer(https://cdn.test)")
    }
}
