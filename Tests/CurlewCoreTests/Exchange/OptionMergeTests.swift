// SPDX-License-Identifier: MIT

import Testing

/// One option changed leaves the others as they are.
@Suite(.timeLimit(.minutes(1)))
struct OptionMergeTests {
    /// The context in which a call reaches the transport.
    private func context(
        _ configuration: APIClient.Configuration = APIClient.Configuration(), client: RequestOptions = RequestOptions(),
        call change: (inout RequestOptions) -> Void
    ) async throws -> ExchangeContext {
        let mock = MockTransport.answering { _ in .status(.noContent) }
        let client = APIClient.mock(mock, configuration: configuration).with(options: client)
        try await client.send(Request<Void>.get("/").options(change))
        return try #require(mock.requests.first).context
    }

    @Test("A timeout of a call keeps the client's others, however it is written")
    func timeouts() async throws {
        let configuration = APIClient.Configuration(timeouts: Timeouts(connect: .seconds(3), idle: nil))
        var client = RequestOptions()
        client.timeouts.firstByte = .seconds(7)
        let expected = Timeouts(connect: .seconds(3), firstByte: .seconds(7), idle: nil, total: .seconds(60))
        #expect(
            try await context(configuration, client: client) { $0.timeouts.total = .seconds(60) }.timeouts == expected)
        let whole = try await context(configuration, client: client) { $0.timeouts = Timeouts(total: .seconds(60)) }
        #expect(whole.timeouts == expected)
    }

    @Test("nil is a choice too, and standard and none replace all")
    func replaced() async throws {
        let configuration = APIClient.Configuration(timeouts: Timeouts(connect: .seconds(3)))
        #expect(try await context(configuration) { $0.timeouts.connect = nil }.timeouts.connect == nil)
        #expect(try await context(configuration) { $0.timeouts = .standard }.timeouts == .standard)
        #expect(try await context(configuration) { $0.timeouts = .none }.timeouts == .none)
        #expect(Timeouts() == .standard && Timeouts(total: nil) != .standard)
    }

    @Test("A limit of a call keeps the client's others")
    func limits() async throws {
        let configuration = APIClient.Configuration(limits: Limits(responseBody: 10, redirects: 2))
        #expect(
            try await context(configuration) { $0.limits.errorExcerpt = 5 }.limits
                == Limits(responseBody: 10, errorExcerpt: 5, redirects: 2))
        #expect(
            try await context(configuration) { $0.limits = Limits(redirects: 9) }.limits
                == Limits(responseBody: 10, redirects: 9))
        #expect(try await context(configuration) { $0.limits = .standard }.limits == .standard)
    }

    @Test("Timeouts and limits of a call, its client and the configuration hold at the same time")
    func both() async throws {
        let configuration = APIClient.Configuration(
            timeouts: Timeouts(connect: .seconds(3)), limits: Limits(responseBody: 10))
        var client = RequestOptions()
        client.limits.redirects = 2
        client.timeouts.idle = .seconds(4)
        let plain = try await context(configuration, client: client) { _ in }
        #expect(plain.timeouts == Timeouts(connect: .seconds(3), idle: .seconds(4)))
        #expect(plain.limits == Limits(responseBody: 10, redirects: 2))
        let changed = try await context(configuration, client: client) {
            $0.limits.errorExcerpt = 5
            $0.timeouts.total = .seconds(6)
            $0.limits.redirects = 7
        }
        #expect(changed.timeouts == Timeouts(connect: .seconds(3), idle: .seconds(4), total: .seconds(6)))
        #expect(changed.limits == Limits(responseBody: 10, errorExcerpt: 5, redirects: 7))
    }

    @Test("A copy of options keeps its timeouts and limits when the other is changed")
    func copies() {
        var options = RequestOptions()
        options.timeouts.total = .seconds(1)
        options.limits.redirects = 2
        var copy = options
        copy.timeouts.total = .seconds(3)
        copy.limits.redirects = 4
        #expect(options.timeouts == Timeouts(total: .seconds(1)) && options.limits == Limits(redirects: 2))
        #expect(copy.timeouts == Timeouts(total: .seconds(3)) && copy.limits == Limits(redirects: 4))
        #expect(RequestOptions().timeouts == Timeouts() && RequestOptions().limits == Limits())
    }

    @Test("A copy of a response keeps its metrics when the other's are changed")
    func metrics() {
        var response = HTTPResponse()
        #expect(response.metrics == ExchangeMetrics())
        response.metrics.bytesSent = 1
        var copy = response
        copy.metrics.bytesSent = 2
        copy.metrics.queue = .seconds(1)
        #expect(response.metrics.bytesSent == 1 && response.metrics.queue == nil)
        #expect(copy.metrics.bytesSent == 2 && HTTPResponse(metrics: copy.metrics).metrics == copy.metrics)
    }

    @Test("A call may refuse what its client allows")
    func switches() async throws {
        var client = RequestOptions()
        client.skipsContentDecoding = true
        client.streaming = true
        client.decodesNotFoundAsNil = true
        let kept = try await context(client: client) { _ in }.options
        #expect(kept.skipsContentDecoding == true && kept.streaming == true && kept.decodesNotFoundAsNil == true)
        let refused = try await context(client: client) {
            $0.skipsContentDecoding = false
            $0.streaming = false
            $0.decodesNotFoundAsNil = false
        }.options
        #expect(
            refused.skipsContentDecoding == false && refused.streaming == false && refused.decodesNotFoundAsNil == false
        )
    }

    @Test("Accepted statuses are those of the client and of the call")
    func accepted() async throws {
        var client = RequestOptions()
        client.acceptedStatuses = [404]
        #expect(
            try await context(client: client) { $0.acceptedStatuses = [409] }.options.acceptedStatuses == [404, 409])
    }
}
