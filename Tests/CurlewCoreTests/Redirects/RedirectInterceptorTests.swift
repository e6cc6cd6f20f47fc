// SPDX-License-Identifier: MIT

import CurlewFoundation
import CurlewHTTP
import CurlewJSON
import CurlewTesting
import Testing

@testable import CurlewCore

@Suite(.timeLimit(.minutes(1)))
struct RedirectInterceptorTests {
    static let page = Request<HTTPResponse>(.get, "/start")

    static func redirect(_ location: String, _ status: HTTPStatus = .found) -> HTTPResponse {
        .status(status, headers: [.location: location])
    }

    static func client(
        _ pipeline: Pipeline = .standard, _ configuration: APIClient.Configuration = APIClient.Configuration(),
        _ configure: (MockTransport) -> Void
    ) -> APIClient {
        .mock(pipeline: pipeline, configuration: configuration, configure)
    }

    @Test("The response at the end is the call's, and it knows the hops that led there")
    func hops() async throws {
        let client = Self.client {
            $0.on(.get, "/start", Self.redirect("/middle?x=1", 301))
            $0.on(.get, "/middle", Self.redirect("https://other.test/end", 307))
            $0.on(.get, "/end", .text("done"))
        }
        let response = try await client.send(Self.page)
        #expect(response.url == "https://other.test/end")
        #expect(
            response.redirects.map(\.description) == [
                "301 GET https://mock.test/start → GET https://mock.test/middle?x=1",
                "307 GET https://mock.test/middle?x=1 → GET https://other.test/end, to another origin",
            ])
        #expect(client.recordedCalls.map(\.context.hop) == [0, 1, 2])
        #expect(client.recordedCalls.map(\.context.crossedOrigin) == [false, false, true])
        #expect(client.recordedCalls.map(\.context.redirects.count) == [0, 1, 2])
        let typed = try await client.response(for: Request<String>.get("/start"))
        #expect(typed.value == "done" && typed.redirects.count == 2)
    }

    @Test("The standard pipeline follows; an empty one does not, and the error says how")
    func standard() async throws {
        func configure(_ mock: MockTransport) {
            mock.on(.get, "/start", Self.redirect("/end"))
            mock.on(.get, "/end", .text("done"))
        }
        #expect(Pipeline.standard.description == "Redirects → Retry(3 attempts, exponential 100 ms…20 s) → transport")
        #expect(
            try await Self.client(.standard, APIClient.Configuration(), configure).send(Request<String>.get("/start"))
                == "done")
        let plain = Self.client(.empty, APIClient.Configuration(), configure)
        #expect(try await plain.send(Self.page).status == .found)
        let error = await #expect(throws: NetworkError.self) { try await plain.send(Request<String>.get("/start")) }
        #expect(error?.reason == .status(.found))
        #expect(error?.description.contains("options.redirects") == true)
    }

    @Test("A call may follow less than its client, and declares secrets and harmless fields on top of it")
    func perCall() async throws {
        let policy = RedirectPolicy.standard.keeping(secret: ["X-One"]).forwarding(["X-Two", "X-Three"])
        let client = Self.client([.redirects(policy)]) {
            $0.on(.get, "/start", Self.redirect("https://other.test/end"))
            $0.on(.get, "/end", .text("done"))
        }
        #expect(try await client.send(Self.page.options { $0.redirects = .manual }).status == .found)
        #expect(try await client.send(Self.page.options { $0.redirects = .sameOrigin }).status == .found)
        #expect(client.recordedCalls.count == 2)
        let own = Self.page.header("X-One", "1").header("X-Two", "2").header("X-Three", "3").header("X-Four", "4")
            .header("X-Five", "5")
            .options { $0.redirects = .standard.keeping(secret: ["X-Two"]).forwarding(["X-One", "X-Four"]) }
        #expect(try await client.send(own).status == .ok)
        let last = try #require(client.recordedCalls.last)
        #expect(last.request.headers.map(\.name.text).filter { $0.hasPrefix("X-") } == ["X-Three", "X-Four"])
        #expect(try await client.with(options: own.options).send(Self.page).status == .ok)
    }

    @Test("Twenty redirects are followed, one more is an error that holds the response")
    func limit() async throws {
        let client = Self.client {
            $0.on(.get, "/:n") { call in
                let number = Int(call.parameters["n"] ?? "") ?? 0
                return number == 20 ? .text("done") : Self.redirect("/\(number + 1)")
            }
        }
        #expect(try await client.send(Request<HTTPResponse>(.get, "/0")).redirects.count == 20)
        let error = await #expect(throws: NetworkError.self) {
            try await client.send(Request<HTTPResponse>(.get, "/21"))
        }
        #expect(error?.reason == .limitExceeded(.redirects))
        #expect(error?.statusCode == 302)
        #expect(error?.request?.url == "https://mock.test/41")
        #expect(client.recordedCalls.count == 42)
        let one = Request<HTTPResponse>(.get, "/18").options { $0.limits = Limits(redirects: 1) }
        await #expect(throws: NetworkError.self) { try await client.send(one) }
    }

    @Test("A circle is followed to the limit: the same URL may answer differently")
    func circle() async throws {
        let client = Self.client { $0.on(.get, "/start", Self.redirect("/start")) }
        let error = await #expect(throws: NetworkError.self) { try await client.send(Self.page) }
        #expect(error?.reason == .limitExceeded(.redirects))
        #expect(error?.detail.contains("loop") == true)
        #expect(client.recordedCalls.count == 21)
        let turn = Locked(0)
        let moved = Self.client {
            $0.on(.get, "/start") { _ in
                let number = turn.next()
                return number < 4 ? Self.redirect("/start") : .status(204)
            }
        }
        #expect(try await moved.send(Self.page).redirects.count == 3)
    }

    @Test("A form is sent once, and its response is read by GET; 307 sends it again whole")
    func forms() async throws {
        let client = Self.client {
            $0.on(.post, "/form", Self.redirect("/result", 303))
            $0.on(.post, "/moved", Self.redirect("/there", 308))
            $0.on(nil, "/:any") { .text("\($0.method) \($0.text)") }
        }
        #expect(try await client.send(Request<String>.post("/form", body: .json([1]))) == "GET ")
        #expect(client.recordedCalls.last?.request.headers.contains(.contentType) == false)
        #expect(try await client.send(Request<String>.post("/moved", body: .json([1]))) == "POST [1]")
        #expect(client.recordedCalls.last?.request.headers[.contentType] == "application/json")
    }

    @Test("A redirect that must not be followed is an error with the response in it, Location included")
    func refused() async throws {
        let client = Self.client { $0.on(.get, "/start", Self.redirect("myapp://callback?code=hunter2")) }
        let error = await #expect(throws: NetworkError.self) { try await client.send(Self.page) }
        #expect(error?.reason == .refused(by: .redirects))
        #expect(error?.response?.headers[.location] == "myapp://callback?code=hunter2")
        #expect(error?.description.contains("hunter2") == false)
        #expect(error?.isRetryable == false)
    }

    @Test("A failure behind a redirect names the request that failed")
    func failureBehind() async throws {
        let client = Self.client {
            $0.on(.get, "/start", Self.redirect("https://other.test/end"))
            $0.fail(.get, "/end", with: NetworkError(.unreachable))
        }
        let error = await #expect(throws: NetworkError.self) { try await client.send(Self.page) }
        #expect(error?.reason == .unreachable)
        #expect(error?.request?.url == "https://other.test/end")
    }

    @Test("Observers receive each redirect, and why one is not followed")
    func events() async throws {
        let listener = PipelineRunnerTests.Listener()
        let client = Self.client(.standard, APIClient.Configuration(observers: [listener])) {
            $0.on(.get, "/start", Self.redirect("/next"))
            $0.on(.get, "/next", .status(.found))
        }
        #expect(try await client.send(Self.page).status == .found)
        #expect(
            listener.heard.dropLast() == [
                "began GET", "sent -", "answered 302", "measured",
                "redirected 302 GET https://mock.test/start → GET https://mock.test/next", "sent -", "answered 302",
                "measured", "redirectKept 302 The response has no Location.",
            ])
    }

    @Test("All hops share one total deadline")
    func deadline() async throws {
        let clock = ManualClock()
        let configuration = APIClient.Configuration(
            timeouts: Timeouts(firstByte: nil, total: .seconds(10)), time: clock)
        let client = Self.client(.standard, configuration) {
            $0.on(.get, "/start", delay: .seconds(6), Self.redirect("/next"))
            $0.on(.get, "/next", delay: .seconds(6), .text("late"))
        }
        let call = Task { try await client.send(Self.page) }
        try await clock.waitForSleepers(1)
        #expect(clock.advanceToNextSleeper() == .seconds(6))
        try await clock.waitForSleepers(1)
        #expect(clock.advanceToNextSleeper() == .seconds(4))
        let error = await #expect(throws: NetworkError.self) { try await call.value }
        #expect(error?.reason == .timedOut(.total))
    }

    @Test("A preview runs it not")
    func preview() async throws {
        let client = Self.client { $0.on(.get, "/start", Self.redirect("/next")) }
        #expect(try await client.preview(Self.page).urlString == "https://mock.test/start")
        #expect("\(RedirectInterceptor(.sameOrigin))" == "Redirects(sameOrigin)")
    }
}
