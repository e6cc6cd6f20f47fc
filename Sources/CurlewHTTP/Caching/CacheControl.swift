// SPDX-License-Identifier: MIT

/// The directives of a `Cache-Control` field (RFC 9111 §5.2).
///
///     let control = CacheControl(response.headers)
///     if control.contains("no-store") { … }
///     let age = control.seconds("max-age")
///
/// Every directive is kept, those that nobody knows included. What is malformed is read in the way that keeps less:
/// a directive that forbids counts whatever follows its name, one that permits only if it is written as it should be.
public struct CacheControl: Hashable, Sendable {
    /// One directive.
    public struct Directive: Hashable, Sendable {
        /// In lower case.
        public let name: String
        /// What stands behind `=`, quotes resolved; nil without `=`.
        public let argument: String?
        /// True if something is wrong with its syntax.
        public let isMalformed: Bool

        init(_ name: String, _ argument: String? = nil, isMalformed: Bool = false) {
            self.name = name
            self.argument = argument
            self.isMalformed = isMalformed
        }
    }

    /// In their order, at most 64.
    public let directives: [Directive]

    /// Durations beyond it are read as it: 2³¹ seconds, about 68 years, or one less where `Int` has 32 bits
    /// (RFC 9111 §1.2.2).
    public static let longest = Int(clamping: 2_147_483_648 as Int64)

    init(_ directives: [Directive]) {
        self.directives = directives
    }

    /// No directives.
    public init() {
        directives = []
    }

    /// Whether there is a directive of this name (in lower case), well-formed or not.
    public func contains(_ name: String) -> Bool {
        directives.contains { $0.name == name }
    }

    /// Whether there is a well-formed directive of this name without an argument. For directives that permit something.
    public func permits(_ name: String) -> Bool {
        directives.contains { $0.name == name && $0.argument == nil && !$0.isMalformed }
    }

    /// The seconds of a directive such as `max-age`; nil without one.
    ///
    /// Zero for a directive without a whole number of seconds, and where several differ (RFC 9111 §4.2.1 encourages to
    /// consider such answers stale). At most `longest`.
    public func seconds(_ name: String) -> Int? {
        var found: Int?
        for directive in directives where directive.name == name {
            let seconds = Self.seconds(of: directive)
            if let found, found != seconds { return 0 }
            found = seconds
        }
        return found
    }

    /// Field names that a directive such as `no-cache="Set-Cookie"` is limited to; nil without the directive, and empty
    /// if it concerns the whole answer.
    ///
    /// An argument that is no list of field names concerns the whole, and so does one of several without an argument.
    public func fieldNames(_ name: String) -> [HTTPField.Name]? {
        var names: [HTTPField.Name]?
        for directive in directives where directive.name == name {
            guard let argument = directive.argument, !directive.isMalformed else { return [] }
            let list = argument.parts(",").map { Self.trimmed($0) }.filter { !$0.isEmpty }
            guard !list.isEmpty, list.allSatisfy(ASCII.isToken) else { return [] }
            names = (names ?? []) + list.map { HTTPField.Name($0) }
        }
        return names
    }

    /// Whether a directive such as `no-cache` or `private` concerns the whole answer.
    public func isUnqualified(_ name: String) -> Bool {
        fieldNames(name)?.isEmpty == true
    }

    /// These directives without the named ones, and with a lifetime.
    package func maxAge(_ seconds: Int, insteadOf names: Set<String>) -> CacheControl {
        CacheControl(directives.filter { !names.contains($0.name) } + [Directive("max-age", "\(seconds)")])
    }

    private static func seconds(of directive: Directive) -> Int {
        guard let argument = directive.argument, !directive.isMalformed else { return 0 }
        return deltaSeconds(argument) ?? 0
    }

    /// RFC 9111 §1.2.2: digits only; what does not fit is `longest`. Nil for anything else.
    package static func deltaSeconds(_ text: String) -> Int? {
        let bytes = text.utf8
        guard !bytes.isEmpty, bytes.allSatisfy(ASCII.isDigit) else { return nil }
        return min(ASCII.decimal(bytes) ?? longest, longest)
    }

    static func trimmed(_ text: Substring) -> String {
        var bytes = text.utf8[...]
        bytes = bytes.drop(while: ASCII.isBlank)
        while let last = bytes.last, ASCII.isBlank(last) { bytes.removeLast() }
        return String(Substring(bytes))
    }
}

extension CacheControl: CustomStringConvertible {
    /// The directives as a field writes them; arguments that are no tokens in quotes.
    public var description: String {
        directives.map { directive in
            guard let argument = directive.argument else { return directive.name }
            if ASCII.isToken(argument) { return "\(directive.name)=\(argument)" }
            // By scalars: a quote with a combining mark behind it ends a quoted string all the same.
            let escaped = argument.unicodeScalars.reduce(into: "") { text, scalar in
                if scalar == "\"" || scalar == "\\" { text.unicodeScalars.append("\\") }
                text.unicodeScalars.append(scalar)
            }
            return "\(directive.name)=\"\(escaped)\""
        }.joined(separator: ", ")
    }
}
