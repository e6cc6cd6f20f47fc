// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// A description of a request to send, typically an enum with one case for each call of a service:
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
///     let users = try await client.send(UsersAPI.list(page: 1).decoding([User].self))
///     try await client.send(UsersAPI.delete(7).ignoringBody())
///
/// Only `path` has no default. A route does not specify the type of its response; an `Endpoint` does.
public protocol Route: Sendable {
    /// The HTTP method. Default GET.
    var method: HTTPMethod { get }
    /// The path, which is appended to the base URL.
    var path: RequestPath { get }
    /// The query items, sent after the client's own items. Default none.
    var query: QueryItems { get }
    /// The header fields. They replace the client's fields of the same names. Default none.
    var headers: HTTPHeaders { get }
    /// The body before encoding. Default none.
    var content: RequestContent { get }
    /// The options of the call. By default, no option is set.
    var options: RequestOptions { get }
    /// The base URL. Default nil: the client's. A call with its own base URL does not send the client's query items. To
    /// an origin other than the client's, it sends only credentials for that origin, and only `Accept` and `User-Agent`
    /// from the client's fields.
    var baseURL: BaseURL? { get }
    /// The name in logs, metrics and errors. Use a limited number of names, because metrics group calls by them.
    /// Default the type's name.
    var name: String { get }
}

extension Route {
    /// The default method, GET.
    public var method: HTTPMethod { .get }
    /// No query items.
    public var query: QueryItems { QueryItems() }
    /// No header fields.
    public var headers: HTTPHeaders { HTTPHeaders() }
    /// No body.
    public var content: RequestContent { .none }
    /// No options are set.
    public var options: RequestOptions { RequestOptions() }
    /// Nil, which selects the client's base URL.
    public var baseURL: BaseURL? { nil }
    /// The name of the type.
    public var name: String { TypeNames.name(of: Self.self) }

    /// Returns a call that sends this request and decodes the response as `type`, or as the inferred type:
    ///
    ///     let users = try await client.send(UsersAPI.list(page: 1).decoding([User].self))
    ///     let users: [User] = try await client.send(UsersAPI.list(page: 1).decoding())
    ///
    /// Typed stubs of a mock match the route itself.
    public func decoding<Value: Decodable & Sendable>(_ type: Value.Type = Value.self) -> Request<Value> {
        Request(self, extras: extras) { try await $0.decoded(as: type, using: $1) }
    }

    /// Returns a call that sends this request and checks only the status. The response body is ignored.
    ///
    ///     try await client.send(FilmsAPI.rate(.metropolis, stars: 4).ignoringBody())
    public func ignoringBody() -> Request<Void> {
        Request(self, extras: extras) { _, _ in }
    }

    private var extras: RequestExtras {
        RequestExtras(options: options, baseURL: baseURL, route: self)
    }
}

/// A type of call that may have been created from a route.
package protocol RouteWrapper {
    /// The route from which the call was created; nil if there was none.
    var route: (any Route)? { get }
}

/// Caches the names of types, because the runtime formats a name each time it is needed.
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
