// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// A pattern that requests match: a method, and a path with parameters. Stubs and server routes use it.
///
///     RoutePattern(.get, "/users/:id")        // one segment, read as parameters["id"]
///     RoutePattern(.get, "/files/*path")      // the rest, one segment or more, read as parameters["path"]
///     RoutePattern(nil, "/health")            // any method
///
/// Patterns ignore the query. Segments are compared percent-decoded and case-sensitively; a trailing slash is
/// significant. If several patterns match, the most specific one is used: the first segment that differs in kind
/// decides, a literal before `:`, and `:` before `*`; then a method before any method.
public struct RoutePattern: Hashable, Sendable {
    /// The method of the requests; nil for any method.
    public let method: HTTPMethod?
    /// The path of the pattern, always with a leading slash.
    public let path: String

    let segments: [Segment]

    /// Creates a pattern from a method (nil for any) and a path. The leading slash of the path may be omitted.
    public init(_ method: HTTPMethod?, _ path: String) {
        self.method = method
        self.path = path.utf8.first == UInt8(ascii: "/") ? path : "/" + path
        segments = Self.split(path[...]).map(Segment.init)
    }

    /// Returns the parameters if the path of the request target matches this pattern; otherwise nil. Ignores the
    /// method, the query and the fragment.
    public func parameters(in target: String) -> PathParameters? {
        let given = Self.split(target.prefix { $0 != "?" && $0 != "#" })
        var found = PathParameters()
        for (index, segment) in segments.enumerated() {
            if case .remainder(let name) = segment {
                guard index < given.count else { return nil }
                found.values[name] = given[index...].joined(separator: "/")
                return found
            }
            guard index < given.count else { return nil }
            let value = PercentCoding.decode(given[index]) ?? given[index]
            guard segment.matches(value) else { return nil }
            if case .parameter(let name) = segment { found.values[name] = value }
        }
        return segments.count == given.count ? found : nil
    }

    /// Returns whether this pattern is more specific than another pattern that matches the same target. The first
    /// different segment decides: a literal takes precedence over a parameter, and a parameter over a `*` parameter. If
    /// no segment differs, a pattern with a method takes precedence over one for any method.
    func isMoreSpecific(than other: RoutePattern) -> Bool {
        for (mine, theirs) in zip(segments, other.segments) where mine.rank != theirs.rank {
            return mine.rank < theirs.rank
        }
        return method != nil && other.method == nil
    }

    static func split(_ path: Substring) -> [String] {
        let inner = path.utf8.first == UInt8(ascii: "/") ? path.dropFirst() : path
        return inner.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    }

    enum Segment: Hashable, Sendable {
        case literal(String)
        case parameter(String)
        case remainder(String)

        init(_ text: String) {
            switch text.utf8.first {
            case UInt8(ascii: ":"): self = .parameter(String(text.dropFirst()))
            case UInt8(ascii: "*"): self = .remainder(String(text.dropFirst()))
            default: self = .literal(PercentCoding.decode(text) ?? text)
            }
        }

        /// The text of the segment in reports.
        var shown: String {
            switch self {
            case .literal(let text): text
            case .parameter(let name): ":" + name
            case .remainder(let name): "*" + name
            }
        }

        /// Returns whether the segment matches a decoded segment of a path.
        func matches(_ text: String) -> Bool {
            if case .literal(let literal) = self { literal == text } else { !text.isEmpty }
        }

        var rank: Int {
            switch self {
            case .literal: 0
            case .parameter: 1
            case .remainder: 2
            }
        }
    }
}

extension RoutePattern: CustomStringConvertible {
    /// The method and the path, such as `GET /users/:id`, or `any /users/:id` for any method.
    public var description: String {
        "\(method?.rawValue ?? "any") \(path)"
    }
}

/// The values of a pattern's parameters in one request, by name.
public struct PathParameters: Hashable, Sendable {
    fileprivate(set) var values: [String: String] = [:]

    /// Creates an empty set of parameters.
    public init() {}

    /// The value of a parameter: one segment, percent-decoded, or for a `*` parameter the rest of the path as sent; nil
    /// if the pattern has no such parameter.
    public subscript(name: String) -> String? { values[name] }
}

/// The stubs of a mock transport or the routes of a mock server.
///
/// The most specific matching pattern is used, in whatever order the patterns were added. If several patterns are
/// equally specific, the one that was added last is used, so that a test can replace the routes of its fixture.
struct RouteTable<Answer: Sendable>: Sendable {
    private var entries: [(pattern: RoutePattern, answer: Answer)] = []

    enum Match {
        /// The value of the matching route, with the values of its parameters and its pattern.
        case found(Answer, PathParameters, RoutePattern)
        /// There are routes for this path, but only with these methods. A server responds with 405.
        case otherMethods([HTTPMethod])
        /// There is no route for this path.
        case none
    }

    mutating func add(_ pattern: RoutePattern, _ answer: Answer) {
        entries.append((pattern, answer))
    }

    var patterns: [RoutePattern] { entries.map(\.pattern) }

    func match(_ method: HTTPMethod, _ target: String) -> Match {
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
