// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// A table that finds the value for a request by ``RoutePattern``. Mock transports and mock servers use it.
///
/// The most specific matching pattern is used, in whatever order the patterns were added. If several patterns are
/// equally specific, the one that was added last is used, so that a test can replace the routes of its fixture.
public struct RouteTable<Answer: Sendable>: Sendable {
    private var entries: [(pattern: RoutePattern, answer: Answer)] = []

    /// Creates a table without routes.
    public init() {}

    /// The result of a lookup for a request.
    public enum Match {
        /// The value of the matching route, with the values of its parameters and its pattern.
        case found(Answer, PathParameters, RoutePattern)
        /// There are routes for this path, but only with these methods. A server responds with 405.
        case otherMethods([HTTPMethod])
        /// There is no route for this path.
        case none
    }

    /// Adds a value for the requests that match a pattern.
    public mutating func add(_ pattern: RoutePattern, _ answer: Answer) {
        entries.append((pattern, answer))
    }

    /// The patterns of the table, in the order in which they were added.
    public var patterns: [RoutePattern] { entries.map(\.pattern) }

    /// Returns the result of the lookup for a request: the most specific route, if there is one. `target` is the path,
    /// optionally with a query.
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
