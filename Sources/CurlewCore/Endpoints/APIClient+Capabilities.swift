// SPDX-License-Identifier: MIT

/// Calls that a capability makes for the caller, such as downloads.
extension APIClient {
    package struct CallChanges {
        var options: (inout RequestOptions) -> Void
        let request: (inout HTTPRequest, ExchangeContext) throws(NetworkError) -> Void
        /// Whether a status that is not a success ends the call, as in `send`. If false, every response is returned.
        var checksStatus = true

        /// - `options`: changes the options of the call, after those of the client and the route are merged.
        /// - `request`: changes the built request, before the interceptors run. An error that the closure throws ends
        ///   the call before anything is sent, and observers are notified.
        package init(
            options: @escaping (inout RequestOptions) -> Void = { _ in },
            request: @escaping (inout HTTPRequest, ExchangeContext) throws(NetworkError) -> Void = { _, _ in }
        ) {
            self.options = options
            self.request = request
        }
    }

    /// Sends `route` and processes the response with `body` as a part of the call: an error that `body` throws ends the
    /// call, and observers are notified of a success only after `body` has returned.
    @concurrent
    package func call<Output>(
        _ route: some Route, changing changes: CallChanges = CallChanges(),
        _ body: (HTTPResponse, ExchangeContext) async throws -> Output
    ) async throws(NetworkError) -> Output {
        let call = try await core.make(route, response: HTTPResponse.self, changing: changes)
        return try await core.exchanger.exchange(call.request, in: call.context) { response in
            if changes.checksStatus { _ = try await core.check(response, call, HTTPResponse.self) }
            return try await body(response, call.context)
        }
    }

    /// Sends `route` and returns the request, the response and the context of the call when the response head has
    /// arrived. Observers are then notified of a success. The caller must read, cancel or release the response body.
    @concurrent
    package func open(
        _ route: some Route, changing changes: CallChanges = CallChanges()
    ) async throws(NetworkError) -> (request: HTTPRequest, response: HTTPResponse, context: ExchangeContext) {
        var (changes, own) = (changes, changes.options)
        changes.options = { options in
            options.streaming = true
            own(&options)
        }
        let call = try await core.make(route, response: HTTPResponse.self, changing: changes)
        return try await core.exchanger.exchange(call.request, in: call.context) { response in
            if changes.checksStatus { _ = try await core.check(response, call, HTTPResponse.self) }
            return (call.request, response, call.context)
        }
    }
}

extension RequestOptions {
    /// Whether the response is a live stream: of events or records, or on a connection that switches to another
    /// protocol. The total timeout then limits only the time to the head. Such a response is never stored in a cache,
    /// served from a cache, shared with another call or hedged. Default false.
    package var isLive: Bool {
        get { self[LiveKey.self] }
        set { self[LiveKey.self] = newValue }
    }
}

private enum LiveKey: RequestOptions.Key {
    static let defaultValue = false
}
