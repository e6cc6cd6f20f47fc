// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewHTTP
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// Requests that are made already, by an app's older code or by another library.
///
/// What goes out is the request: of the client it has the fields and query items that it does not name itself, if it goes
/// to the client's origin. Its timeout and cache policy do not count; the client's timeouts do. Every form throws, or
/// delivers, `NetworkError`, with `.invalidRequest` for what cannot be sent.
extension APIClient {
    /// Sends a ready-made request through the client's pipeline and gives the answer, whatever its status.
    @concurrent @discardableResult
    public func send(urlRequest: URLRequest) async throws(NetworkError) -> HTTPResponse {
        try await send(Request<HTTPResponse>(urlRequest))
    }

    /// Sends a ready-made request through the client's pipeline, checks the status and decodes the answer as the type that
    /// is named or expected:
    ///
    ///     let user: User = try await client.send(urlRequest: request)
    @concurrent
    public func send<Value: Decodable & Sendable>(
        urlRequest: URLRequest, as type: Value.Type = Value.self, codecs: Codecs? = nil
    ) async throws(NetworkError) -> Value {
        try await send(Request<Value>(urlRequest), codecs: codecs)
    }

    /// Sends a ready-made request through the client's pipeline, checks the status and gives the body.
    @concurrent
    public func data(for urlRequest: URLRequest) async throws(NetworkError) -> Data {
        try await send(Request<Data>(urlRequest))
    }

    /// Sends a ready-made request and calls `completion` with the answer, whatever its status: on the main actor, exactly
    /// once, also when the call is cancelled.
    @discardableResult
    public func send(
        urlRequest: URLRequest, completion: @escaping @MainActor (Result<HTTPResponse, NetworkError>) -> Void
    ) -> RequestHandle {
        send(Request<HTTPResponse>(urlRequest), completion: completion)
    }

    /// Sends a ready-made request, checks the status, decodes the answer as `type` and calls `completion` on the main actor,
    /// exactly once. `Data.self` is the body as it is.
    @discardableResult
    public func send<Value: Decodable & Sendable>(
        urlRequest: URLRequest, as type: Value.Type,
        completion: @escaping @MainActor (Result<Value, NetworkError>) -> Void
    ) -> RequestHandle {
        send(Request<Value>(urlRequest), completion: completion)
    }

    /// Sends a ready-made request and calls `completion` with the answer, whatever its status: where `executor` says,
    /// exactly once.
    @discardableResult
    public func send(
        urlRequest: URLRequest, deliverOn executor: CompletionExecutor,
        completion: @escaping @Sendable (Result<HTTPResponse, NetworkError>) -> Void
    ) -> RequestHandle {
        send(Request<HTTPResponse>(urlRequest), deliverOn: executor, completion: completion)
    }

    /// Sends a ready-made request, checks the status, decodes the answer as `type` and calls `completion` where `executor`
    /// says, exactly once.
    @discardableResult
    public func send<Value: Decodable & Sendable>(
        urlRequest: URLRequest, as type: Value.Type, deliverOn executor: CompletionExecutor,
        completion: @escaping @Sendable (Result<Value, NetworkError>) -> Void
    ) -> RequestHandle {
        send(Request<Value>(urlRequest), deliverOn: executor, completion: completion)
    }
}

/// A ready-made request as a typed call, for everything that takes one: `send`, `response(for:)`, `download`, publishers,
/// `Loadable`. What cannot be sent is thrown when the call is sent.
extension Request where Value: Decodable {
    /// A call whose answer is decoded, or taken as `Data` or `String`.
    public init(_ urlRequest: URLRequest) {
        self.init(urlRequest) { try await $0.decoded(as: Value.self, using: $1) }
    }
}

extension Request where Value == Void {
    /// A call whose status counts alone.
    public init(_ urlRequest: URLRequest) {
        self.init(urlRequest) { _, _ in }
    }
}

extension Request where Value == HTTPResponse {
    /// A call that takes the answer as it comes, whatever its status.
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
