// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewHTTP
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// Methods that send existing `URLRequest`s, for example from older code or from another library.
///
/// The fields of the request are kept. If the request has the client's origin, or the client has no base URL, the
/// client adds its own fields that the request lacks; otherwise it adds only `Accept` and `User-Agent`. The client's
/// timeouts and caches apply instead of the request's timeout and cache policy. All methods throw `NetworkError`, with
/// `.invalidRequest` for a request that cannot be sent.
///
/// Callers that do not await pass a completion handler to the call: `client.send(Request<User>(urlRequest)) { … }`.
extension APIClient {
    /// Sends a `URLRequest` through the client's pipeline and returns the response, whatever its status.
    @concurrent @discardableResult
    public func send(urlRequest: URLRequest) async throws(NetworkError) -> HTTPResponse {
        try await send(Request<HTTPResponse>(urlRequest))
    }

    /// Sends a `URLRequest` through the client's pipeline, validates the status and decodes the response as `Value`,
    /// with `codecs` or, if nil, with the client's codecs. `Data` and `String` are the body itself.
    ///
    ///     let user: User = try await client.send(urlRequest: request)
    @concurrent
    public func send<Value: Decodable & Sendable>(
        urlRequest: URLRequest, as type: Value.Type = Value.self, codecs: Codecs? = nil
    ) async throws(NetworkError) -> Value {
        try await send(Request<Value>(urlRequest), codecs: codecs)
    }

    /// Sends a `URLRequest` through the client's pipeline, validates the status and returns the body.
    @concurrent
    public func data(for urlRequest: URLRequest) async throws(NetworkError) -> Data {
        try await send(Request<Data>(urlRequest))
    }
}

/// Calls that send a `URLRequest`, for everything that takes a `Request`: `send`, `response(for:)`, `download`,
/// publishers and `Loadable`. If the `URLRequest` cannot be sent, sending the call throws.
extension Request where Value: Decodable {
    /// Creates a call that sends a `URLRequest`, validates the status and decodes the response. `Data` and `String` are
    /// the body itself.
    public init(_ urlRequest: URLRequest) {
        self.init(urlRequest) { try await $0.decoded(as: Value.self, using: $1) }
    }
}

extension Request where Value == Void {
    /// Creates a call that sends a `URLRequest`, validates the status and ignores the body.
    public init(_ urlRequest: URLRequest) {
        self.init(urlRequest) { _, _ in }
    }
}

extension Request where Value == HTTPResponse {
    /// Creates a call that sends a `URLRequest` and returns the response, whatever its status.
    public init(_ urlRequest: URLRequest) {
        self.init(urlRequest) { response, _ in response }
    }
}

extension Request {
    private init(
        _ urlRequest: URLRequest, decode: @escaping @Sendable (HTTPResponse, Codecs) async throws -> Value
    ) {
        do {
            self.init(try HTTPRequest(urlRequest), name: "URLRequest", decode: decode)
        } catch {
            self.init(refusing: error, name: "URLRequest", decode: decode)
        }
    }
}
