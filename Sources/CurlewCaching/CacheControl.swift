// SPDX-License-Identifier: MIT

import CurlewHTTP

/// The directives of a `Cache-Control` field (RFC 9111 §5.2).
///
///     let control = CacheControl(response.headers)
///     if control.contains("no-store") { … }
///     let age = control.seconds("max-age")
///
/// Unknown directives are kept. A malformed directive is interpreted restrictively: a directive that forbids something
/// applies even if it is malformed, and a directive that permits something applies only if it is well-formed.
struct CacheControl: Hashable, Sendable {
    /// A single directive, such as `max-age=60`.
    struct Directive: Hashable, Sendable {
        /// The name of the directive, in lower case.
        let name: String
        /// The value after `=`, without quotes; nil if there is none.
        var argument: String?
        /// Whether the syntax of the directive is invalid.
        var isMalformed = false
    }

    /// The directives in order of appearance, at most 64.
    let directives: [Directive]

    /// The maximum duration in seconds: 2³¹, about 68 years, or 2³¹ − 1 where `Int` has 32 bits. Longer durations are
    /// read as this value (RFC 9111 §1.2.2).
    static let maximumSeconds = Int(clamping: 2_147_483_648 as Int64)

    /// Returns whether a directive with this name is present, well-formed or not. The name must be in lower case.
    func contains(_ name: String) -> Bool {
        directives.contains { $0.name == name }
    }

    /// Returns whether a well-formed directive with this name and no argument is present. For directives that permit
    /// something.
    func permits(_ name: String) -> Bool {
        directives.contains { $0.name == name && $0.argument == nil && !$0.isMalformed }
    }

    /// Returns the number of seconds of a directive such as `max-age`, at most `maximumSeconds`; nil without the
    /// directive.
    ///
    /// Returns zero if the directive has no valid number of seconds, or if several values differ (RFC 9111 §4.2.1
    /// encourages caches to consider such responses stale).
    func seconds(_ name: String) -> Int? {
        var found: Int?
        for directive in directives where directive.name == name {
            let seconds = Self.seconds(of: directive)
            if let found, found != seconds { return 0 }
            found = seconds
        }
        return found
    }

    /// Returns the field names to which a directive such as `no-cache="Set-Cookie"` is limited; nil without the
    /// directive. An empty result means that the directive applies to the complete response.
    ///
    /// The directive applies to the complete response if any occurrence has no argument, or an argument that is not a
    /// list of field names.
    func fieldNames(_ name: String) -> [HTTPField.Name]? {
        var names: [HTTPField.Name]?
        for directive in directives where directive.name == name {
            guard let argument = directive.argument, !directive.isMalformed else { return [] }
            let list = argument.parts(",").map { HTTPField.Name(String($0.trimmed())) }.filter { !$0.text.isEmpty }
            guard !list.isEmpty, list.allSatisfy(\.isValid) else { return [] }
            names = (names ?? []) + list
        }
        return names
    }

    /// Returns whether a directive such as `no-cache` or `private` applies to the complete response.
    func isUnqualified(_ name: String) -> Bool {
        fieldNames(name)?.isEmpty == true
    }

    private static func seconds(of directive: Directive) -> Int {
        guard let argument = directive.argument, !directive.isMalformed else { return 0 }
        return deltaSeconds(argument) ?? 0
    }

    /// Parses delta-seconds (RFC 9111 §1.2.2): digits only, at most `maximumSeconds`. Returns nil for anything else.
    static func deltaSeconds(_ text: String) -> Int? {
        if let seconds = ASCII.decimal(text[...]) { return min(Int(clamping: seconds), maximumSeconds) }
        let overflows = !text.isEmpty && text.utf8.allSatisfy { $0 &- 0x30 < 10 }
        return overflows ? maximumSeconds : nil
    }
}

extension CacheControl {
    private static let maximum = 64

    /// Parses all `Cache-Control` fields of a message.
    init(_ headers: HTTPHeaders) {
        self.init(headers[.cacheControl] ?? "")
    }

    /// Parses the value of a `Cache-Control` field: `1#( token [ "=" ( token / quoted-string ) ] )`. A malformed member
    /// is kept with `isMalformed` set.
    init(_ value: String) {
        var reader = FieldReader(value)
        var found: [Directive] = []
        while !reader.isAtEnd, found.count < Self.maximum {
            if let directive = reader.directive() { found.append(directive) }
        }
        self.init(directives: found)
    }
}

extension FieldReader {
    /// Reads one list member and the comma after it. Returns nil for a member that is empty or has no name.
    fileprivate mutating func directive() -> CacheControl.Directive? {
        skipBlanks()
        guard let name = token().map(ASCII.lowercased) else {
            _ = skipToComma()
            return nil
        }
        guard take(0x3D) else { return CacheControl.Directive(name: name, isMalformed: !skipToComma()) }
        guard remainder.first == 0x22 else {
            let argument = token()
            let isClean = skipToComma()
            return CacheControl.Directive(name: name, argument: argument, isMalformed: argument == nil || !isClean)
        }
        var ahead = self
        guard let argument = ahead.quotedString() else {
            // Only the text up to the next comma is skipped, because a directive after the unterminated quote may
            // forbid storing.
            _ = skipToComma()
            return CacheControl.Directive(name: name, isMalformed: true)
        }
        self = ahead
        return CacheControl.Directive(name: name, argument: argument, isMalformed: !skipToComma())
    }

    /// Skips past the next comma. Returns false if anything but blanks preceded the comma.
    private mutating func skipToComma() -> Bool {
        skipBlanks()
        let isClean = remainder.isEmpty || remainder.first == 0x2C
        remainder = remainder.drop { $0 != 0x2C }
        if !remainder.isEmpty { remainder.removeFirst() }
        return isClean
    }
}
