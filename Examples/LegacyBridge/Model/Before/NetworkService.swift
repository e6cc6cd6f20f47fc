// SPDX-License-Identifier: MIT

// What the team wrote years ago: the protocols and types that fifty screens know. Not a line of it names Curlew, and
// nothing had to change but one word: `@MainActor` says what "on the main queue" in a comment said before.

/// What to ask for.
protocol RequestDescription: Sendable {
    var path: String { get }
    var verb: String { get }
    var additionalHeaders: [String: String] { get }
    var parameters: [String: String] { get }
    var body: (any Encodable & Sendable)? { get }
    /// The call carries the token of the signed-in user.
    var needsToken: Bool { get }
}

extension RequestDescription {
    var verb: String { "GET" }
    var additionalHeaders: [String: String] { [:] }
    var parameters: [String: String] { [:] }
    var body: (any Encodable & Sendable)? { nil }
    var needsToken: Bool { false }
}

/// Why there is no value.
enum ServiceError: Error, Hashable {
    case cancelled
    case unauthorized
    case forbidden
    case notFound
    /// 400–499
    case client(Int)
    /// 500–599
    case server(Int)
    case noConnection
    case requestCannotBeBuilt
    case responseCannotBeParsed
    case noData
}

/// A call in progress, for screens that go away.
protocol NetworkTask: Sendable {
    func cancel()
}

/// The single entry point. Completions come on the main actor, once, whatever happens.
protocol NetworkService: Sendable {
    @discardableResult
    func perform<Value: Decodable & Sendable>(
        _ request: any RequestDescription, completion: @escaping @MainActor (Result<Value, ServiceError>) -> Void
    ) -> any NetworkTask
}
