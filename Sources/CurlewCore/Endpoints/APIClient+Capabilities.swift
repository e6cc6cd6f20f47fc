// SPDX-License-Identifier: MIT

/// Calls that a capability makes for the caller, such as downloads.
extension APIClient {
    /// The changes that a capability makes to a call.
    package struct CallChanges {
        /// Changes the options of the call, after those of the client and the route are merged.
        package var options: (inout RequestOptions) -> Void = { _ in }
        /// Changes the built request, before the interceptors run. An error that it throws ends the call before
        /// anything is sent, and observers are notified.
        package var request: (inout HTTPRequest, ExchangeContext) throws(NetworkError) -> Void = { _, _ in }
        /// Whether a status that is not a success ends the call, as in `send`. If false, `body` receives every
        /// response.
        package var checksStatus = true

        package init() {}
    }

    /// Sends `route` and processes the response with `body` as a part of the call: an error that `body` throws ends the
    /// call, and observers are notified of a success only after `body` has returned.
    @concurrent
    package func call<Output>(
        _ route: some Route, changing changes: CallChanges = CallChanges(),
        _ body: (HTTPResponse, ExchangeContext) async throws -> Output
    ) async throws(NetworkError) -> Output {
        let call = try await core.begin(route, response: HTTPResponse.self, nil, change: changes.options)
        var request = call.request
        do throws(NetworkError) {
            try changes.request(&request, call.context)
        } catch {
            var failure = error
            failure.request = NetworkError.RequestLine(request)
            failure.routeName = call.context.routeName
            call.context.record(.failed(failure, after: .zero))
            await call.context.eventsDelivered()
            throw failure
        }
        return try await core.exchanger.exchange(request, in: call.context) { response in
            if changes.checksStatus { _ = try await core.check(response, call, HTTPResponse.self) }
            return try await body(response, call.context)
        }
    }
}
