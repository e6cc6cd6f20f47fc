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

    /// All calls share one limit.
    public static let all = LimitScope(rule: .all)
    /// Each origin (scheme, host and port) has a separate limit.
    public static let origin = LimitScope(rule: .origin)
    /// Each route, identified by its name, has a separate limit.
    public static let route = LimitScope(rule: .route)

    /// Calls with the same key share one limit. `key` runs once for each request and must be fast.
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
    /// `origin`
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
    /// The key that identifies a limit or a circuit.
    public enum Key: Hashable, Sendable, CustomStringConvertible {
        /// All calls.
        case all
        /// The calls to one origin.
        case origin(Origin)
        /// The calls of one route, or with one key.
        case text(String)

        /// A description for people, with at most 100 characters of a text.
        public var description: String {
            switch self {
            case .all: "all calls"
            case .origin(let origin): "\(origin)"
            case .text(let text): text.isEmpty ? "calls without a name" : text.clipped(to: 100).printable
            }
        }
    }
}
