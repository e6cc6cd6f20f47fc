// SPDX-License-Identifier: MIT

import CurlewHTTP

/// The path of a call, below the client's base URL.
///
///     "/users/\(id)/posts"      id is percent-encoded as one segment: "a/b" becomes a%2Fb
///     "/files/\(raw: key)"      key is encoded already and may hold slashes
///
/// What could make a server look elsewhere is refused before anything is sent: a `.` or `..` segment, written plainly
/// or percent-encoded, in the path or in a value, also with what some servers cut off (`..;x`, `..%00`, blanks behind it);
/// a backslash; `?` and `#` in the written part; an empty value, which
/// would name another resource. The refusal is kept in the path and thrown by `send` as `.invalidRequest`. `\(raw:)` is
/// for text that the app itself made: its dot segments are not looked at.
///
/// A path is always appended to the base URL, never resolved against it, so it changes neither host nor base path.
public struct RequestPath: Sendable {
    /// The path as it goes on the wire: percent-encoded, and beginning with `/` unless it is empty.
    public let encoded: String
    /// Why it must not be sent; nil when it may.
    public let problem: NetworkError?

    /// A path made at run time. Slashes separate segments; the rest follows the rules for literals.
    public init(_ path: String) {
        var builder = StringInterpolation(literalCapacity: path.utf8.count, interpolationCount: 0)
        builder.appendLiteral(path)
        self.init(stringInterpolation: builder)
    }

    /// For a target that was checked as part of an absolute URL; the only one that may hold a query.
    init(target: String) {
        self.init(encoded: target, problem: nil)
    }

    /// A path that cannot be used.
    init(refused problem: NetworkError) {
        self.init(encoded: "", problem: problem)
    }

    private init(encoded: String, problem: NetworkError?) {
        self.encoded = encoded
        self.problem = problem
    }
}

extension RequestPath: ExpressibleByStringInterpolation {
    /// A path written as a literal.
    public init(stringLiteral value: String) {
        self.init(value)
    }

    /// A path written as a literal with values in it.
    public init(stringInterpolation: StringInterpolation) {
        let path = stringInterpolation.path
        self.init(
            encoded: path.isEmpty || path.utf8.first == UInt8(ascii: "/") ? path : "/" + path,
            problem: stringInterpolation.problem
                ?? PathRules.problem(ofPath: path, hasRawText: stringInterpolation.hasRawText))
    }
}

extension RequestPath: Hashable {
    /// Equal when the same path goes on the wire.
    public static func == (left: RequestPath, right: RequestPath) -> Bool {
        left.encoded == right.encoded && left.problem?.detail == right.problem?.detail
    }

    /// Consistent with `==`.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(encoded)
    }
}

extension RequestPath: CustomStringConvertible, CustomReflectable {
    /// The path as it goes on the wire, or what is wrong with it.
    public var description: String {
        problem?.detail ?? encoded
    }

    /// Shows the description only, to debuggers and `dump` too.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
