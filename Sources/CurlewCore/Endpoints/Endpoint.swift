// SPDX-License-Identifier: MIT

/// A typed call: the request to send and the type of its response.
///
///     struct GetUser: Endpoint {
///         typealias Response = User
///         let id: Int
///         var path: RequestPath { "/users/\(id)" }
///     }
///     let user = try await client.send(GetUser(id: 1))
///
/// `decode` has defaults for these response types:
/// - a `Decodable` value, decoded by the codecs of the call; `Data` and `String` are the body itself
/// - an Optional: nil for 204, 205 and an empty body, and for 404 and 410 with `options.decodesNotFoundAsNil`
/// - `Void`: the body is ignored
/// - `HTTPResponse`: the response itself, whatever its status
///
/// Unless the type is `HTTPResponse`, the status is checked before `decode`: it must be 200–299 or one of
/// `options.acceptedStatuses`. Write the `typealias`, because it selects the default implementation of `decode`.
///
/// In a module whose default isolation is the main actor, declare models `nonisolated struct User: Decodable`: decoding
/// never runs on the main actor. Without it the compiler reports "unavailable instance method 'decode(_:using:)' was
/// used to satisfy a requirement", or, for a `Request`, "main actor-isolated conformance of 'User' to 'Decodable'
/// cannot satisfy conformance requirement for a 'Sendable' type parameter".
public protocol Endpoint<Response>: Route {
    /// The type of the decoded response.
    associatedtype Response: Sendable
    /// Decodes the response. Called at most once, off the main actor. Any error that it throws is converted to
    /// `NetworkError`. An implementation of yours can call `response.decoded(as:using:)`.
    func decode(_ response: HTTPResponse, using codecs: Codecs) async throws -> Response
}

extension Endpoint where Response == Void {
    /// Ignores the body of the response.
    public func decode(_ response: HTTPResponse, using codecs: Codecs) async throws {}
}

extension Endpoint where Response == HTTPResponse {
    /// Returns the response unchanged.
    public func decode(_ response: HTTPResponse, using codecs: Codecs) async throws -> HTTPResponse {
        response
    }
}

extension Endpoint where Response: Decodable {
    /// Decodes the body with the codec for its media type. `Data` and `String` are the body itself.
    public func decode(_ response: HTTPResponse, using codecs: Codecs) async throws -> Response {
        try await response.decoded(as: Response.self, using: codecs)
    }
}

extension Endpoint {
    /// Provides the compiler's error message for response types without a default implementation.
    @available(
        *, unavailable,
        message: """
            'Response' must be Decodable, Void or HTTPResponse; otherwise implement 'decode'. Where the default \
            isolation is the main actor, declare the model 'nonisolated', so that its Decodable conformance is too
            """
    )
    public func decode(_ response: HTTPResponse, using codecs: Codecs) async throws -> Response {
        throw NetworkError(.configuration)
    }
}
