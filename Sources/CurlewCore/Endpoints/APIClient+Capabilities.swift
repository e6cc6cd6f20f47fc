// SPDX-License-Identifier: MIT

package import CurlewFoundation

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

        func apply(to request: inout HTTPRequest, in context: ExchangeContext) throws(NetworkError) {
            do throws(NetworkError) { try self.request(&request, context) } catch {
                throw error.naming(NetworkError.RequestLine(request), route: context.routeName)
            }
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

    /// Sends `route` and returns the response while its body is still in transfer. The call is a success for observers
    /// as soon as its head has arrived. The caller must end the response (`OpenResponse.end()`) or release its body.
    @concurrent
    package func open(
        _ route: some Route, changing changes: CallChanges = CallChanges()
    ) async throws(NetworkError) -> OpenResponse {
        var (changes, own) = (changes, changes.options)
        changes.options = { options in
            options.streaming = true
            own(&options)
        }
        let call = try await core.make(route, response: HTTPResponse.self, changing: changes)
        return try await core.exchanger.exchange(call.request, in: call.context) { response in
            if changes.checksStatus { _ = try await core.check(response, call, HTTPResponse.self) }
            return OpenResponse(
                response: response, line: NetworkError.RequestLine(call.request), context: call.context)
        }
    }

    /// A response whose body is still in transfer, with the properties of its call that errors need.
    package struct OpenResponse: Sendable {
        package var response: HTTPResponse
        let line: NetworkError.RequestLine
        package let context: ExchangeContext

        /// Cancels the rest of the transfer, and waits until the observers have received the events recorded so far, at
        /// most five seconds.
        package func end() async {
            response.body.cancel()
            await context.eventsDelivered()
        }

        /// Returns `error` as a `NetworkError` that names the request and the route.
        package func named(_ error: any Error) -> NetworkError {
            NetworkError(error).naming(line, route: context.routeName)
        }

        /// Decodes a part of the body, such as one message, with the codecs of the call.
        ///
        /// - `what`: the name of the part for the error, whose response has the bytes of the part as its body.
        package func decode<Value: Decodable>(
            _ type: Value.Type, from part: Data, as what: String
        ) throws(NetworkError) -> Value {
            do { return try context.codecs.decode(type, from: part, mediaType: nil) } catch {
                throw undecodable(part, "\(what) is not \(type).", error)
            }
        }

        /// Returns the error of a part of the body that cannot be decoded, with its bytes as the body of the response.
        package func undecodable(_ part: Data, _ problem: String, _ cause: any Error) -> NetworkError {
            var failure = named(
                NetworkError(
                    .decoding, detail: "\(problem) \(NetworkError(cause).detail)",
                    response: response.errorResponse(part, in: context), underlying: cause))
            failure.codecs = context.codecs
            return failure.withholding(context.secrets)
        }
    }
}

extension RequestOptions {
    /// Whether the response is a live stream: an event stream, or a connection that switches to another protocol. The
    /// total timeout then limits only the time to the head. Such a response is never stored in a cache, served from a
    /// cache, shared with another call or hedged. Default false.
    package var isLive: Bool {
        get { self[LiveKey.self] }
        set { self[LiveKey.self] = newValue }
    }
}

private enum LiveKey: RequestOptions.Key {
    static let defaultValue = false
}
