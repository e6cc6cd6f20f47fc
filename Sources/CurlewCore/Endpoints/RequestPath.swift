// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// The path of a call, below the client's base URL.
///
///     "/users/\(id)/posts"      id is percent-encoded as one segment: "a/b" becomes a%2Fb
///     "/files/\(raw: key)"      key is encoded already and may hold slashes
///
/// Text that could make a server resolve another resource is rejected before anything is sent:
/// - a `.` or `..` segment, plain or percent-encoded, in the path or in a value, including suffixes that some servers
///   cut off (`..;x`, `..%00`, trailing blanks)
/// - a backslash
/// - `?` and `#` in the literal
/// - an empty value
///
/// The path keeps the problem, and `send` throws it as `.invalidRequest`. `\(raw:)` is for text that the app itself
/// creates: its dot segments are not checked.
///
/// A path is always appended to the base URL, never resolved against it, so it changes neither host nor base path.
public struct RequestPath: Sendable {
    /// The path on the wire: percent-encoded, and beginning with `/` unless it is empty. Only the path of
    /// a call to a whole URL may contain a query.
    public let encoded: String
    /// The reason why the path is invalid; nil when it is valid.
    public let problem: NetworkError?

    /// Creates a path at run time. Slashes separate segments. Otherwise the rules for literals apply.
    public init(_ path: String) {
        var builder = StringInterpolation(literalCapacity: path.utf8.count, interpolationCount: 0)
        builder.appendLiteral(path)
        self.init(stringInterpolation: builder)
    }

    /// Creates a path from a checked target, which may contain a query.
    init(target: String) {
        self.init(encoded: target, problem: nil)
    }

    /// Creates an invalid path with its problem.
    init(refused problem: NetworkError) {
        self.init(encoded: "", problem: problem)
    }

    private init(encoded: String, problem: NetworkError?) {
        self.encoded = encoded
        self.problem = problem
    }
}

extension RequestPath: ExpressibleByStringInterpolation {
    /// Creates a path from a literal. Never traps: if the literal is invalid, `problem` has the reason.
    public init(stringLiteral value: String) {
        self.init(value)
    }

    /// Creates a path from an interpolated literal. Never traps: if the literal or a value is invalid, `problem` has
    /// the reason.
    public init(stringInterpolation: StringInterpolation) {
        let path = stringInterpolation.path
        self.init(
            encoded: path.isEmpty || path.utf8.first == UInt8(ascii: "/") ? path : "/" + path,
            problem: stringInterpolation.problem
                ?? PathRules.problem(ofPath: path, hasRawText: stringInterpolation.hasRawText))
    }
}

extension RequestPath: ComparedByKey {
    /// The path on the wire, and the reason if it is invalid.
    package var comparisonKey: [String?] { [encoded, problem?.detail] }
}

extension RequestPath: MirroredByDescription {
    /// The path on the wire, or the reason why it is invalid.
    public var description: String {
        problem?.detail ?? encoded
    }
}
