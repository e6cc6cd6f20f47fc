// SPDX-License-Identifier: MIT

/// Calls whose response body is read while it arrives.
extension APIClient {
    /// Sends `route` and calls `body` with its response as soon as the head has arrived:
    ///
    ///     try await client.withResponse(to: Request<Data>.get("/export")) { response in
    ///         for try await chunk in response.body { try file.write(chunk) }
    ///     }
    ///
    /// `body` runs on the caller's actor. When `body` returns or throws, the rest of the transfer is cancelled. The
    /// status is checked before `body` is called, as in `send`. The total timeout includes the time that `body` takes
    /// to read, and `Limits.responseBody` (64 MiB by default) limits the size of the body. To write a response to a
    /// file unchanged, use `download(_:to:)`.
    ///
    /// Throws `NetworkError` if the exchange fails. An error that `body` throws is rethrown unchanged, except that a
    /// `NetworkError` receives the request and the route name if it has none.
    public func withResponse<Output>(
        to route: some Route, _ body: (HTTPResponse) async throws -> Output
    ) async throws -> Output {
        try await withStream(route, body)
    }

    /// Sends `request`, as the overload for a route does: `try await client.withResponse(to: .export) { … }`.
    public func withResponse<Value, Output>(
        to request: Request<Value>, _ body: (HTTPResponse) async throws -> Output
    ) async throws -> Output {
        try await withStream(request, body)
    }

    private func withStream<Output>(
        _ route: some Route, _ body: (HTTPResponse) async throws -> Output
    ) async throws -> Output {
        var changes = CallChanges()
        changes.checksStatus = route.responseType != HTTPResponse.self
        let (request, response, context) = try await open(route, changing: changes)
        let result: Result<Output, any Error>
        do { result = .success(try await body(response)) } catch { result = .failure(error) }
        response.body.cancel()
        await context.eventsDelivered()
        do { return try result.get() } catch let error as NetworkError {
            throw error.naming(NetworkError.RequestLine(request), route: context.routeName)
        }
    }
}
