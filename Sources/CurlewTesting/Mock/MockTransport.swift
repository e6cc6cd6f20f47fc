// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// A transport that responds from a table of stubs instead of the network, and records the requests.
///
///     let mock = MockTransport {
///         $0.on(GetUser.self) { endpoint in User(id: endpoint.id, name: "Ada") }        // a value
///         $0.on(GetFilm.self) { _ in #"{"id": 1, "title": "Metropolis"}"# }             // JSON text, or Data
///         $0.on(.get, "/users/:id/avatar") { call in HTTPResponse.data(png) }           // a response
///         $0.on(.delete, "/users/:id", .status(204))                                    // the same each time
///         $0.fail(GetUser.self, .once, with: NetworkError(.unreachable))
///     }
///     let client = APIClient.mock(mock)
///
/// The mock responds to a request with the first of these that matches:
///
/// - a failure that is due
/// - the stub for the type of the endpoint or route that was sent
/// - the most specific stub for the method and the path
/// - the stub that `onAny` added
///
/// Of several failures or equally specific stubs, the last added is used. A request without a matching stub fails with
/// `.refused(by: .mock)`, and the error names the nearest stub with the first difference: see ``RequestMismatch``.
///
/// The mock behaves like a transport: it reads request bodies, observes deadlines and cancellation, and applies limits
/// to its responses. The mock adds the times that the `metrics` of a stub's response do not specify, measured on the
/// clock of the call, and observers receive `.measured`. Copies share one table, and stubs may be added at any time.
public struct MockTransport: Transport {
    private let table = Monitor(MockTable())

    /// Creates a mock with the stubs that `configure` adds.
    public init(_ configure: (MockTransport) -> Void = { _ in }) {
        configure(self)
    }

    /// Returns a mock that calls `handler` for every request.
    public static func answering(
        _ handler: @escaping @Sendable (RecordedRequest) async throws -> HTTPResponse
    ) -> MockTransport {
        MockTransport { $0.onAny(handler) }
    }

    /// The last 1,000 requests, oldest first, including those that failed and those without a matching stub.
    public var requests: [RecordedRequest] { table.withLock { Array($0.calls.suffix(MockTable.maximumCalls)) } }

    /// The number of all requests so far, including those that are no longer in ``requests``.
    public var requestCount: Int { table.withLock { $0.callCount } }

    /// Returns the endpoints or routes of this type in ``requests``, oldest first.
    public func requests<Sent>(for type: Sent.Type) -> [Sent] {
        requests.compactMap { $0.endpoint(as: type) }
    }

    /// Waits until at least `count` requests have arrived, without polling, and returns the last 1,000 requests.
    ///
    /// - `timeout`: the limit in real time. Default 10 seconds.
    ///
    /// After the timeout, throws a ``MockError`` that lists the last ten requests. Throws `CancellationError` as soon
    /// as the task is cancelled.
    @discardableResult
    public func waitForRequests(_ count: Int, timeout: Duration = .seconds(10)) async throws -> [RecordedRequest] {
        if try await table.wait(for: timeout, until: { $0.callCount >= count ? true : nil }) != nil { return requests }
        let present = requests.suffix(10).map { "\($0)" }.joined(separator: ", ")
        throw MockError(
            "\(count) requests did not arrive within \(timeout.brief); there were \(requestCount)"
                + (present.isEmpty ? "" : ": \(present)"))
    }

    /// Returns `.anonymous`, because the mock adds no credential.
    public func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal { .anonymous }

    /// Records the request. Returns the response from its stub, or throws the error of the stub or of a due failure. If
    /// the reason of that error is a status, returns the response of the error.
    public func send(_ request: HTTPRequest, in context: ExchangeContext) async throws -> HTTPResponse {
        do {
            try Task.checkCancellation()
            try request.validate()
            let start = context.time.now
            let (body, length) = try await request.body.read(keeping: 1 << 20)
            var response = try await respond(to: RecordedRequest(request, body, length: length, in: context))
            let elapsed = start.duration(to: context.time.now)
            if response.metrics.firstByte == nil { response.metrics.firstByte = elapsed }
            if response.metrics.total == nil { response.metrics.total = elapsed }
            if response.metrics.version == nil { response.metrics.version = response.version }
            return response
        } catch is CancellationError {
            throw NetworkError(.cancelled)
        }
    }

    private func respond(to call: RecordedRequest) async throws -> HTTPResponse {
        let stub = table.withLock { table -> (stub: MockStub, parameters: PathParameters)? in
            table.record(call)
            return table.dueFailure(for: call).map { ($0, PathParameters()) } ?? table.stub(for: call)
        }
        guard let (stub, parameters) = stub else { throw table.withLock { $0.unmatched(call) } }
        try await wait(stub.delay, in: call.context)
        var call = call
        call.parameters = parameters
        do {
            return finish(try await stub.respond(call), call)
        } catch let error as NetworkError {
            // Interceptors expect a response, whatever its status: only typed calls convert a status to an error.
            guard case .status = error.reason, let response = error.response else { throw error }
            return finish(
                HTTPResponse(status: response.status, headers: response.headers, body: ResponseBody(response.body)),
                call)
        }
    }

    /// Waits for `delay` on the call's clock. If a deadline or the timeout for the first byte ends earlier, waits until
    /// then and throws `.timedOut`.
    private func wait(_ delay: Duration, in context: ExchangeContext) async throws {
        guard delay > .zero else { return }
        let now = context.time.now
        let firstByte = SystemTime.Deadline(context.timeouts.firstByte, after: now)
        let limits: [(NetworkError.Phase, SystemTime.Deadline)] = [
            (.total, context.totalDeadline), (.attempt, context.attemptDeadline), (.firstByte, firstByte),
        ]
        let ends = limits.compactMap { phase, limit in limit.instant.map { (phase, $0) } }
        let end = now.advanced(by: delay)
        guard let (phase, last) = ends.min(by: { $0.1 < $1.1 }), last <= end else {
            return try await context.time.sleep(until: end)
        }
        try await context.time.sleep(until: last)
        throw NetworkError(.timedOut(phase), detail: "The mock's stub responds after \(delay.brief).")
    }

    private func finish(_ response: HTTPResponse, _ call: RecordedRequest) -> HTTPResponse {
        var response = response
        if response.url.isEmpty { response.url = call.request.urlString }
        response.body = response.body.limited(to: call.context.limits.responseBody)
        return response
    }

    func change(_ change: @Sendable (inout MockTable) -> Void) {
        table.withLock { change(&$0) }
    }
}

extension MockTransport: CustomStringConvertible {
    /// The word `mock`.
    public var description: String { "mock" }
}

extension APIClient {
    /// Returns a client that receives its responses from stubs:
    ///
    ///     let client = APIClient.mock { $0.on(GetUser.self) { User(id: $0.id, name: "Ada") } }
    ///
    /// `client.recordedCalls` contains the last 1,000 requests. By default the base URL is `https://mock.test`, and the
    /// pipeline has no interceptors.
    public static func mock(
        baseURL: BaseURL = "https://mock.test", pipeline: Pipeline = .empty,
        configuration: APIClient.Configuration = APIClient.Configuration(), _ configure: (MockTransport) -> Void
    ) -> APIClient {
        mock(MockTransport(configure), baseURL: baseURL, pipeline: pipeline, configuration: configuration)
    }

    /// Returns a client that sends its requests to `mock`. By default the base URL is `https://mock.test`, and the
    /// pipeline has no interceptors.
    public static func mock(
        _ mock: MockTransport, baseURL: BaseURL = "https://mock.test", pipeline: Pipeline = .empty,
        configuration: APIClient.Configuration = APIClient.Configuration()
    ) -> APIClient {
        APIClient(baseURL: baseURL, pipeline: pipeline, transport: mock, configuration: configuration)
    }

    /// The last 1,000 requests that reached the client's mock, oldest first; empty for a client with another transport.
    public var recordedCalls: [RecordedRequest] {
        (transport as? MockTransport)?.requests ?? []
    }
}

extension RequestBody {
    /// Reads the body to its end, as a transport does. Returns its first bytes, at most `limit`, and its length. Throws
    /// the errors of the body, and `CancellationError` as soon as the task is cancelled.
    func read(keeping limit: Int) async throws -> (data: Data, count: Int64) {
        var (data, count) = (Data(), Int64(0))
        for try await chunk in try chunks() {
            try Task.checkCancellation()
            count += Int64(chunk.count)
            data.append(chunk.prefix(max(0, limit - data.count)))
        }
        return (data, count)
    }
}
