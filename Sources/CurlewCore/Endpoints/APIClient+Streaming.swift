// SPDX-License-Identifier: MIT

/// Calls whose response body is read while it arrives.
extension APIClient {
    /// Sends `route` and calls `body` with its response as soon as the head has arrived:
    ///
    ///     try await client.withResponse(to: Request<Data>.get("/export")) { response in
    ///         for try await chunk in response.body { try file.write(chunk) }
    ///     }
    ///
    /// `body` runs on the caller's actor. When it returns or throws, the rest of the transfer is cancelled. The status
    /// is checked before `body` is called, as in `send`. The total timeout includes the time that `body` takes to read,
    /// and `Limits.responseBody` (64 MiB by default) limits the size of the body. To write a response to a file
    /// unchanged, use `download(_:to:)`.
    ///
    /// Throws `NetworkError` if the exchange fails. An error that `body` throws is rethrown unchanged, except that a
    /// `NetworkError` receives the request and the route name if it has none.
    public func withResponse<Output>(
        to route: some Route, _ body: (HTTPResponse) async throws -> Output
    ) async throws -> Output {
        try await lend(route, body)
    }

    /// Sends `request` and calls `body` with the response: `try await client.withResponse(to: .export) { … }`.
    public func withResponse<Value, Output>(
        to request: Request<Value>, _ body: (HTTPResponse) async throws -> Output
    ) async throws -> Output {
        try await lend(request, body)
    }

    private func lend<Output>(
        _ route: some Route, _ body: (HTTPResponse) async throws -> Output
    ) async throws -> Output {
        let stream = try await core.stream(route)
        do {
            let output = try await body(stream.response)
            await stream.end()
            return output
        } catch {
            await stream.end()
            guard var error = error as? NetworkError else { throw error }
            if error.request == nil { error.request = stream.line }
            if error.routeName == nil { error.routeName = stream.routeName }
            throw error
        }
    }
}

extension APIClient.Core {
    /// A response whose body is still in transfer, with the properties of its call that errors need.
    struct Stream: Sendable {
        let response: HTTPResponse
        let line: NetworkError.RequestLine
        let routeName: String
        let context: ExchangeContext

        /// Cancels the rest of the transfer, and waits until the observers have received the events recorded so far, at
        /// most five seconds.
        func end() async {
            response.body.cancel()
            await context.eventsDelivered()
        }
    }

    @concurrent
    func stream(_ route: some Route) async throws(NetworkError) -> Stream {
        let call = try await begin(route, response: HTTPResponse.self, nil) { $0.streaming = true }
        let acceptsEveryStatus = (route as? any Endpoint)?.returnsResponse ?? false
        return try await exchanger.exchange(call.request, in: call.context) { response in
            if !acceptsEveryStatus { _ = try await check(response, call, HTTPResponse.self) }
            return Stream(
                response: response, line: NetworkError.RequestLine(call.request), routeName: call.context.routeName,
                context: call.context)
        }
    }
}

extension Endpoint {
    fileprivate var returnsResponse: Bool { Response.self == HTTPResponse.self }
}
