// SPDX-License-Identifier: MIT

/// A typed call: what to send, and what comes back.
///
///     struct GetUser: Endpoint {
///         typealias Response = User
///         let id: Int
///         var path: RequestPath { "/users/\(id)" }
///     }
///     let user = try await client.send(GetUser(id: 1))
///
/// `decode` has defaults for these answers:
/// - a `Decodable` value, read by the client's codecs; `Data` and `String` are the body as it is
/// - an Optional: nil for 204, 205 and an empty body, and for 404 and 410 with `options.nilOn404`
/// - `Void`: the body is not looked at
/// - `HTTPResponse`: the answer itself, whatever its status
///
/// The status is checked before `decode`: 200–299, or what `options.accepts` adds. Write the `typealias`: it is what
/// selects the default.
///
/// In a module whose default isolation is the main actor, declare models `nonisolated struct User: Decodable`: decoding
/// never happens on the main actor. Without it the compiler says "unavailable instance method 'decode(_:using:)' was
/// used to satisfy a requirement", or for inline requests "main actor-isolated conformance of 'User' to 'Decodable'
/// cannot satisfy conformance requirement for a 'Sendable' type parameter".
public protocol Endpoint<Response>: Route {
    /// What the call gives.
    associatedtype Response: Sendable
    /// Reads the answer. Called once, off the main actor; errors of any kind become `NetworkError`.
    func decode(_ response: HTTPResponse, using codecs: Codecs) async throws -> Response
}

extension Endpoint where Response == Void {
    /// Leaves the body unread.
    public func decode(_ response: HTTPResponse, using codecs: Codecs) async throws {}
}

extension Endpoint where Response == HTTPResponse {
    /// The answer as it came.
    public func decode(_ response: HTTPResponse, using codecs: Codecs) async throws -> HTTPResponse {
        response
    }
}

extension Endpoint where Response: Decodable {
    /// The value in the body.
    public func decode(_ response: HTTPResponse, using codecs: Codecs) async throws -> Response {
        try await response.decoded(as: Response.self, using: codecs)
    }
}

extension Endpoint {
    /// Only here for its message: the compiler picks it when no other default fits, and then says why.
    @available(
        *, unavailable,
        message: """
            'Response' has to be Decodable, Void or HTTPResponse; else write 'decode' yourself. Where the default \
            isolation is the main actor, declare the model 'nonisolated', so that its Decodable conformance is too
            """
    )
    public func decode(_ response: HTTPResponse, using codecs: Codecs) async throws -> Response {
        throw NetworkError(.configuration)
    }
}
