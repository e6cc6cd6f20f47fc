// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore
@testable import CurlewResilience

@Suite(.timeLimit(.minutes(1)))
struct AttemptTimeoutTests {
    let clock = ManualClock()

    func client(_ pipeline: Pipeline, total: Duration = .seconds(60), _ configure: (MockTransport) -> Void) -> APIClient
    {
        let configuration = APIClient.Configuration(timeouts: Timeouts(firstByte: nil, total: total), time: clock)
        return .mock(pipeline: pipeline, configuration: configuration, configure)
    }

    @Test("An attempt that takes longer ends, and says which limit it was")
    func over() async throws {
        let client = client([.attemptTimeout(.seconds(5))]) { $0.onAny(delay: .seconds(9)) { _ in .status(200) } }
        let call = Task { try await client.send(Request<HTTPResponse>(.get, "/")) }
        try await clock.waitForSleepers(1)
        #expect(clock.advanceToNextSleeper() == .seconds(5))
        let error = await #expect(throws: NetworkError.self) { try await call.value }
        #expect(error?.reason == .timedOut(.attempt))
        #expect(error?.isRetryable == true)
        #expect(error?.description.contains("attemptTimeout") == true)
        #expect(
            error?.detail.hasSuffix(
                "The call took 5 s; it may take 60 s, and each attempt may wait 5 s for its response.") == true)
    }

    @Test("The call's own deadline comes first if it is earlier")
    func total() async throws {
        let client = client([.attemptTimeout(.seconds(5))]) { $0.onAny(delay: .seconds(9)) { _ in .status(200) } }
        let short = Timeouts(firstByte: nil, total: .seconds(3))
        let call = Task { try await client.send(Request<HTTPResponse>(.get, "/").options { $0.timeouts = short }) }
        try await clock.waitForSleepers(1)
        #expect(clock.advanceToNextSleeper() == .seconds(3))
        let error = await #expect(throws: NetworkError.self) { try await call.value }
        #expect(error?.reason == .timedOut(.total))
        #expect(
            error?.detail == "The call was not complete within 3 s. The mock's stub responds after 9 s. Each attempt "
                + "may wait 5 s for its response.")
    }

    @Test("Each redirect has an attempt timeout of its own")
    func eachHop() async throws {
        let client = client([.redirects(), .attemptTimeout(.seconds(5))]) {
            $0.on(.get, "/1", delay: .seconds(4), .status(302, headers: [.location: "/2"]))
            $0.on(.get, "/2", delay: .seconds(4), .status(204))
        }
        let call = Task { try await client.send(Request<HTTPResponse>(.get, "/1")) }
        for _ in 0..<2 {
            try await clock.waitForSleepers(1)
            #expect(clock.advanceToNextSleeper() == .seconds(4))
        }
        #expect(try await call.value.status == .noContent)
    }

    @Test("An earlier deadline of the attempt stays, and the limit shows")
    func nested() async throws {
        let start = clock.now
        let next = Next(context: ExchangeContext(time: clock)) { _, context in
            #expect(context.attemptDeadline == SystemTime.Deadline(.seconds(5), after: start))
            return .status(200)
        }
        let request = try HTTPRequest(url: "https://a.test/")
        let outer = Next(context: next.context) { request, context in
            try await BuiltInInterceptor.attemptTimeout(.seconds(7)).intercept(
                request, next: Next(context: context) { try await next($0, context: $1) })
        }
        _ = try await BuiltInInterceptor.attemptTimeout(.seconds(5)).intercept(request, next: outer)
        #expect(Pipeline([.attemptTimeout(.seconds(5))]).description == "AttemptTimeout(5 s) → transport")
    }

    @Test("An attempt timeout that leaves no time is a problem of the pipeline", arguments: [0, -1])
    func problem(seconds: Int) {
        #expect(Pipeline([.attemptTimeout(.seconds(seconds))]).problems().count == 1)
        #expect(Pipeline([.attemptTimeout(.milliseconds(1))]).problems().isEmpty)
    }

    @Test("Where the attempt timeout is longer than the call, the total timeout ends the call", arguments: [4, 5, 6])
    func longer(attempt: Int) async throws {
        let client = client([.attemptTimeout(.seconds(attempt))], total: .seconds(5)) { $0.onAny { _ in .status(204) } }
        #expect(client.problems.isEmpty)
        try await client.send(Request<Void>.get("/"))
    }

    @Test("A call sets its own attempt timeout, longer, shorter or none, whatever the pipeline says")
    func ofTheCall() async throws {
        let cases: [(pipeline: Pipeline, attempt: Duration?, expected: Duration?)] = [
            ([.attemptTimeout(.seconds(5))], .seconds(7), .seconds(7)),
            ([.attemptTimeout(.seconds(5))], .seconds(2), .seconds(2)),
            ([.attemptTimeout(.seconds(5))], nil, .seconds(5)), ([], .seconds(2), .seconds(2)), ([], nil, nil),
        ]
        for (pipeline, attempt, expected) in cases {
            let client = client(pipeline) { $0.onAny(delay: .seconds(9)) { _ in .status(200) } }
            let timeouts = Timeouts(firstByte: nil, total: .seconds(60), attempt: attempt)
            let call = Task {
                try await client.send(Request<HTTPResponse>(.get, "/").options { $0.timeouts = timeouts })
            }
            try await clock.waitForSleepers(1)
            #expect(clock.advanceToNextSleeper() == expected ?? .seconds(9))
            let result = await call.result
            guard expected != nil else {
                #expect(try result.get().status == .ok)
                continue
            }
            #expect(throws: NetworkError.self) { try result.get() }
        }
        let none = client([.attemptTimeout(.seconds(5))]) { $0.onAny(delay: .seconds(900)) { _ in .status(200) } }
        let call = Task {
            try await none.send(Request<HTTPResponse>(.get, "/").options { $0.timeouts = Timeouts.none })
        }
        try await clock.waitForSleepers(1)
        #expect(clock.advanceToNextSleeper() == .seconds(900))
        #expect(try await call.value.status == .ok)
    }
}
