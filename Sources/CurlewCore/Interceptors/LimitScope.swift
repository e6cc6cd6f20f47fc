// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// What shares one limit or one circuit: all calls, or those to one origin, of one route, or with one key.
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
    /// Each origin (scheme, host and port) has its own.
    public static let origin = LimitScope(rule: .origin)
    /// Each route has its own, by its name.
    public static let route = LimitScope(rule: .route)

    /// Calls with the same key share one limit. `key` is asked once for each sending and must be quick.
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
    /// What a limit or a circuit is kept under.
    public enum Key: Hashable, Sendable, CustomStringConvertible {
        /// All calls.
        case all
        /// The calls to one origin.
        case origin(Origin)
        /// The calls of one route, or with one key.
        case text(String)

        /// In words, at most 100 characters of a text.
        public var description: String {
            switch self {
            case .all: "all calls"
            case .origin(let origin): "\(origin)"
            case .text(let text): text.isEmpty ? "calls without a name" : text.clipped(to: 100).printable
            }
        }
    }
}
