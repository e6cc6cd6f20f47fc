// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// What to send. An enum with one case for each call of a service conforms to it:
///
///     enum UsersAPI: Route {
///         case list(page: Int)
///         case delete(User.ID)
///
///         var method: HTTPMethod {
///             switch self {
///             case .list: .get
///             case .delete: .delete
///             }
///         }
///         var path: RequestPath {
///             switch self {
///             case .list: "/users"
///             case .delete(let id): "/users/\(id)"
///             }
///         }
///     }
///     let users: [User] = try await client.send(UsersAPI.list(page: 1))
///
/// Only `path` has no default. A type that also knows its answer is an `Endpoint`.
public protocol Route: Sendable {
    /// Default GET.
    var method: HTTPMethod { get }
    /// Appended to the base URL.
    var path: RequestPath { get }
    /// Default none. Sent behind the client's own items.
    var query: QueryItems { get }
    /// Default none. They replace the client's fields of the same names.
    var headers: HTTPHeaders { get }
    /// The body before encoding. Default none.
    var content: RequestContent { get }
    /// What the call asks for beyond the message. Default nothing.
    var options: RequestOptions { get }
    /// Default nil: the client's. A URL of another origin gets none of the client's headers, query and credentials.
    var baseURL: BaseURL? { get }
    /// The name in logs, metrics and errors; of bounded variety. Default the type's name.
    var name: String { get }
}

extension Route {
    /// GET.
    public var method: HTTPMethod { .get }
    /// No items.
    public var query: QueryItems { QueryItems() }
    /// No fields.
    public var headers: HTTPHeaders { HTTPHeaders() }
    /// No body.
    public var content: RequestContent { .none }
    /// The defaults.
    public var options: RequestOptions { RequestOptions() }
    /// The client's.
    public var baseURL: BaseURL? { nil }
    /// The type's name.
    public var name: String { TypeNames.name(of: Self.self) }
}

/// Names of types, each asked of the runtime once: it spells them out anew each time.
enum TypeNames {
    private static let known = Locked<[ObjectIdentifier: String]>([:])

    static func name(of type: any Any.Type) -> String {
        known.withLock { known in
            if let name = known[ObjectIdentifier(type)] { return name }
            let name = String(describing: type)
            known[ObjectIdentifier(type)] = name
            return name
        }
    }
}
