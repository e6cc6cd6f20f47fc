// SPDX-License-Identifier: MIT

public import CurlewCore
public import CurlewHTTP

/// The set of calls that share a limit or a circuit: all calls, or the calls to the same origin, of the same route, or
/// with the same key.
public struct LimitScope: Sendable {
    private enum Rule: Sendable {
        case all
        case origin
        case route
        case key(@Sendable (HTTPRequest, ExchangeContext) -> String)
    }

    private let rule: Rule

    /// One limit for all calls.
    public static let all = LimitScope(rule: .all)
    /// A separate limit for each origin (scheme, host and port).
    public static let origin = LimitScope(rule: .origin)
    /// A separate limit for each route name. Calls without a route name share one limit.
    public static let route = LimitScope(rule: .route)

    /// Returns a scope with a limit for each key. `key` runs once for each request on the wire and must return quickly.
    public static func key(_ key: @escaping @Sendable (HTTPRequest, ExchangeContext) -> String) -> LimitScope {
        LimitScope(rule: .key(key))
    }

    var isOrigin: Bool {
        if case .origin = rule { true } else { false }
    }

    func key(of request: HTTPRequest, in context: ExchangeContext) -> Key {
        switch rule {
        case .all: .all
        case .origin: .origin(request.origin)
        case .route: .text(context.routeName)
        case .key(let key): .text(key(request, context))
        }
    }
}

extension LimitScope: CustomStringConvertible {
    /// The name of the rule: `all`, `origin`, `route` or `key`.
    public var description: String {
        switch rule {
        case .all: "all"
        case .origin: "origin"
        case .route: "route"
        case .key: "key"
        }
    }
}

extension LimitScope {
    /// The key that identifies one limit or circuit of a scope.
    public enum Key: Hashable, Sendable, CustomStringConvertible {
        /// All calls.
        case all
        /// The calls to one origin.
        case origin(Origin)
        /// The calls of one route or with one key: the name of the route, or the key that the app returned.
        case text(String)

        /// A description for messages: `all calls`, the origin, or at most 100 bytes of the route name or key.
        public var description: String {
            switch self {
            case .all: "all calls"
            case .origin(let origin): "\(origin)"
            case .text(let text): text.isEmpty ? "calls without a name" : text.clipped(to: 100).printable
            }
        }
    }
}
