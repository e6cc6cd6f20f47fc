// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// A response whose body is still in transfer, with the properties of its call that errors need.
struct OpenResponse: Sendable {
    var response: HTTPResponse
    let context: ExchangeContext
    private let line: NetworkError.RequestLine

    /// Sends `route` and returns the response. The caller must end it (`end()`) or release its body.
    init(
        of route: some Route, from client: APIClient, changing changes: sending APIClient.CallChanges
    ) async throws(NetworkError) {
        let call = try await client.open(route, changing: changes)
        (response, context, line) = (call.response, call.context, NetworkError.RequestLine(call.request))
    }

    /// Cancels the rest of the transfer, and waits until the observers have received the events recorded so far, at
    /// most five seconds.
    func end() async {
        response.body.cancel()
        await context.eventsDelivered()
    }

    /// Returns `error` as a `NetworkError` that names the request and the route.
    func named(_ error: any Error) -> NetworkError {
        NetworkError(error).naming(line, route: context.routeName)
    }

    /// Decodes a part of the body, such as one message, with the codecs of the call.
    ///
    /// - `what`: the part, for the error, which has the bytes of the part as the body of its response.
    func decode<Value: Decodable>(
        _ type: Value.Type, from part: Data, as what: String
    ) throws(NetworkError) -> Value {
        do { return try context.codecs.decode(type, from: part, mediaType: nil) } catch {
            throw undecodable(part, "\(what) is not \(type).", error)
        }
    }

    /// Returns the error of a part of the body that cannot be decoded, with its bytes as the body of the response.
    func undecodable(_ part: Data, _ problem: String, _ cause: any Error) -> NetworkError {
        var failure = named(
            NetworkError(
                .decoding, detail: "\(problem) \(NetworkError(cause).detail)",
                response: response.errorResponse(part, in: context), underlying: cause))
        failure.codecs = context.codecs
        return failure.withholding(context.secrets)
    }
}
