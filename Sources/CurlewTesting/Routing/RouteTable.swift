// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// A table of values by route pattern, used by mocks and servers.
///
/// The most specific matching pattern is used, whatever the order in which patterns were added. Of equally specific
/// ones the last added is used, so that a test can replace the routes of its fixture.
public struct RouteTable<Answer: Sendable>: Sendable {
    private var entries: [(pattern: RoutePattern, answer: Answer)] = []

    /// Creates a table without routes.
    public init() {}

    /// The result of a lookup.
    public enum Match {
        /// A route with the values of its parameters.
        case found(Answer, PathParameters, RoutePattern)
        /// There are routes for this path, but only with these methods: a server responds with 405.
        case otherMethods([HTTPMethod])
        /// There is no route for this path.
        case none
    }

    /// Adds a route.
    public mutating func add(_ pattern: RoutePattern, _ answer: Answer) {
        entries.append((pattern, answer))
    }

    /// The patterns, in the order in which they were added.
    public var patterns: [RoutePattern] { entries.map(\.pattern) }

    /// Returns the route for a request. `target` is the path, optionally with a query.
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
