// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// Answers by route pattern: the table behind mocks and servers.
///
/// The most specific pattern that matches decides, whatever the order in which patterns were added; of equally specific
/// ones, the last added, so that a test can replace what its fixture set up.
public struct RouteTable<Answer: Sendable>: Sendable {
    private var entries: [(pattern: RoutePattern, answer: Answer)] = []

    /// A table without routes.
    public init() {}

    /// What a look-up found.
    public enum Match {
        /// A route, and what its parameters stand for.
        case found(Answer, PathParameters, RoutePattern)
        /// Routes for this path, but only with these methods: what a server answers with 405.
        case otherMethods([HTTPMethod])
        /// No route for this path.
        case none
    }

    /// Adds a route.
    public mutating func add(_ pattern: RoutePattern, _ answer: Answer) {
        entries.append((pattern, answer))
    }

    /// The patterns, in the order in which they were added.
    public var patterns: [RoutePattern] { entries.map(\.pattern) }

    /// The route for a request. `target` is the path, perhaps with a query.
    public func match(_ method: HTTPMethod, _ target: String) -> Match {
        var best: (pattern: RoutePattern, answer: Answer, parameters: PathParameters)?
        var others: [HTTPMethod] = []
        for entry in entries {
            guard let parameters = entry.pattern.parameters(in: target) else { continue }
            if let wanted = entry.pattern.method, wanted != method {
                if !others.contains(wanted) { others.append(wanted) }
                continue
            }
            if let best, best.pattern.isMoreSpecific(than: entry.pattern) { continue }
            best = (entry.pattern, entry.answer, parameters)
        }
        if let best { return .found(best.answer, best.parameters, best.pattern) }
        return others.isEmpty ? .none : .otherMethods(others)
    }
}
