// SPDX-License-Identifier: MIT

/// Finds the secrets of a text in one pass over its bytes. The text may be truncated or malformed.
///
/// Secrets are the values after a secret name and `=` or `:`, credentials after `Bearer`, `Basic` and `DPoP`, the
/// userinfo of URLs, and what the patterns of paths match. Escapes are read through: `%3D`, `%253D` and `\u003d` are an
/// equals sign, and `\"` is a quote inside of a string. What is kept is printed as it was written.
///
/// A value extends to the end of its string, container, word or pair. Where its end is unclear, more is hidden.
struct SecretScanner {
    enum Kind {
        /// Text of any kind, in which quotes may be unbalanced.
        case text
        /// JSON: no value extends beyond the string that contains its name.
        case json
        /// A URL or a field that contains URLs: a value extends to the next `&` or `#`.
        case url
        /// A form: a value extends to the next `&`.
        case form
    }

    /// A byte with its escapes undone, where it ends, and how many escapes were undone.
    private struct Unit {
        var byte: UInt8
        var end: Int
        var level = 0
    }

    private let redaction: Redaction
    private let kind: Kind
    private let bytes: [UInt8]
    private var edits: [(range: Range<Int>, text: [UInt8])] = []

    /// The end of the string of JSON that contains the current byte, without its quote, or the end of the text.
    private var limit: Int
    private var isInString = false
    /// The last word: bytes that can be part of a name. The byte before it.
    private var word = 0..<0
    private var beforeWord: UInt8 = 0x20
    /// The last two quotes.
    private var quote = (range: 0..<0, level: 0)
    private var quoteBefore = 0..<0
    /// The end of the last byte that is not a blank.
    private var solidEnd = 0
    /// The preceding byte, and the one before the slashes that end here.
    private var last: UInt8 = 0x20
    private var beforeSlashes: UInt8 = 0x20
    /// Where the userinfo of a URL may have begun.
    private var authority: Int?
    private var isInQuery = false
    private var isInBrackets = false
    /// The last tag of the region that ends at `limit`.
    private var markup: (limit: Int, lastClosing: Int, end: Int)?
    private var path: SecretPath

    private init(_ text: String, _ kind: Kind, _ redaction: Redaction) {
        self.redaction = redaction
        self.kind = kind
        bytes = Array(text.utf8)
        limit = bytes.count
        path = SecretPath(redaction.pathPatterns)
    }

    /// Returns the text with its secrets replaced.
    static func redact(_ text: String, as kind: Kind, _ redaction: Redaction) -> String {
        var scanner = SecretScanner(text, kind, redaction)
        scanner.scan()
        return scanner.edits.isEmpty ? text : scanner.result
    }

    private var result: String {
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        var index = 0
        for edit in edits.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
            // An edit may lie in another one, as a password in a secret part of a path.
            if edit.range.lowerBound >= index {
                output += bytes[index..<edit.range.lowerBound]
                output += edit.text
            }
            index = max(index, edit.range.upperBound)
        }
        return String(decoding: output + bytes[index...], as: UTF8.self)
    }

    private mutating func hide(_ range: Range<Int>, by text: [UInt8] = Array(Redaction.mark.utf8)) {
        edits.append((range, text))
    }

    // MARK: - Bytes

    private mutating func scan() {
        if kind == .url { authority = 0 }
        var index = 0
        while index < bytes.count {
            if Self.isPlain[Int(bytes[index])] {
                extendWord(from: index, to: index + 1)
                last = bytes[index]
                index += 1
                solidEnd = index
                continue
            }
            let unit = unit(at: index)
            index = read(unit, at: index)
            if index != unit.end {
                authority = nil
                last = Redaction.mark.utf8.last ?? 0
                solidEnd = index
                if isInString, index > limit { leaveString() }
            } else {
                if !Self.isBlank(unit.byte) { solidEnd = index }
                last = unit.byte
            }
        }
        endSegment(at: bytes.count, by: Unit(byte: 0x20, end: bytes.count))
    }

    /// Returns where to continue: at the end of the unit, or of a secret after it.
    private mutating func read(_ unit: Unit, at index: Int) -> Int {
        switch unit.byte {
        case UInt8(ascii: "="):
            if let end = secretEnd(after: unit, at: index, in: .pair) { return end }
        case UInt8(ascii: ":"):
            if let end = secretEnd(after: unit, at: index, in: .member) { return end }
        case UInt8(ascii: "/"):
            slash(at: index, unit)
            return unit.end
        case UInt8(ascii: "@"):
            if let authority, authority < index { hide(authority..<unit.end, by: []) }
            return unit.end
        case UInt8(ascii: "?"), UInt8(ascii: "#"):
            endSegment(at: index, by: unit)
            authority = nil
            isInQuery = true
        case UInt8(ascii: "<"):
            if kind == .url { isInBrackets = true }
            if let end = markupEnd(at: index, unit) {
                hide(index..<end, by: Array(Redaction.markup.utf8))
                return end
            }
        case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "`"):
            if kind == .json, unit.byte == UInt8(ascii: "\""), unit.level == 0 { toggleString(at: index) }
            quoteBefore = quote.range
            quote = (index..<unit.end, unit.level)
        case let byte where Self.isBlank(byte):
            if word.upperBound == index, let end = credentialEnd(from: unit.end) {
                hide(unit.end..<end)
                return end
            }
        case let byte where !Self.isStop(byte):
            // Part of a name, but not plain: an escape, or a byte outside of ASCII.
            extendWord(from: index, to: unit.end)
            return unit.end
        default: break
        }
        if Self.isBoundary(unit.byte) {
            endSegment(at: index, by: unit)
            authority = nil
            isInQuery = false
        }
        if bytes[index] == UInt8(ascii: "\\"), Self.isBlank(unit.byte), unit.level > 0 {
            // `\t` may also be a backslash before a name: `\token=`.
            (word, beforeWord) = (index..<unit.end, 0x20)
        }
        return unit.end
    }

    private mutating func extendWord(from start: Int, to end: Int) {
        if word.upperBound != start { (word, beforeWord) = (start..<start, last) }
        word = word.lowerBound..<end
    }

    /// Returns the byte at `start` with all of its escapes undone. A byte outside of ASCII is 0x80.
    private func unit(at start: Int) -> Unit {
        var index = start + 1
        if bytes[start] == UInt8(ascii: "%") {
            var level = 1
            while level < 8, matches("25", at: index) { (index, level) = (index + 2, level + 1) }
            guard let byte = hex(at: index, count: 2) else { return Unit(byte: bytes[start], end: start + 1) }
            return Unit(byte: UInt8(min(byte, 0x80)), end: index + 2, level: level)
        }
        guard bytes[start] == UInt8(ascii: "\\") else { return Unit(byte: bytes[start], end: index) }
        while index < bytes.count, bytes[index] == UInt8(ascii: "\\") { index += 1 }
        guard index < bytes.count else { return Unit(byte: bytes[start], end: index, level: 1) }
        // A quote in a string that is a string of another string has three backslashes, in the next one seven.
        let run = index - start
        let level = (~run).trailingZeroBitCount
        switch bytes[index] {
        case UInt8(ascii: "u"):
            guard let value = hex(at: index + 1, count: 4) else { break }
            return Unit(byte: UInt8(min(value, 0x80)), end: index + 5, level: Int.bitWidth - run.leadingZeroBitCount)
        case UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"), UInt8(ascii: "b"), UInt8(ascii: "f"):
            return Unit(byte: 0x0A, end: index + 1, level: isInString && run == 1 ? 0 : level)
        case let byte where byte < 0x80 && !ASCII.isLetter(byte) && !ASCII.isDigit(byte):
            return Unit(byte: byte, end: index + 1, level: level)
        default: break
        }
        return Unit(byte: UInt8(ascii: "\\"), end: index, level: 1)
    }

    private func matches(_ text: StaticString, at index: Int) -> Bool {
        index + text.utf8CodeUnitCount <= bytes.count
            && text.withUTF8Buffer { $0.elementsEqual(bytes[index..<(index + $0.count)]) }
    }

    private func hex(at index: Int, count: Int) -> Int? {
        guard index + count <= bytes.count else { return nil }
        return bytes[index..<(index + count)].reduce(0) { value, byte in
            guard let value, let digit = ASCII.hexValue(byte) else { return nil }
            return value << 4 | Int(digit)
        }
    }

    private static let isPlain: [Bool] = (0..<256).map { (byte: Int) in
        ASCII.isLetter(UInt8(byte)) || ASCII.isDigit(UInt8(byte)) || "-_.$*~^[]+".utf8.contains(UInt8(byte))
    }

    private static func isStop(_ byte: UInt8) -> Bool { byte <= 0x20 || "&;?#,\"'`{}()<>=:|/!@\\".utf8.contains(byte) }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte >= 0x09 && byte <= 0x0D }

    /// Returns whether the byte cannot be part of a URL.
    private static func isBoundary(_ byte: UInt8) -> Bool { byte <= 0x20 || "\"'`<>(){}".utf8.contains(byte) }

    // MARK: - Strings and markup

    private mutating func toggleString(at index: Int) {
        if isInString { return leaveString() }
        isInString = true
        limit = index + 1
        while limit < bytes.count, bytes[limit] != UInt8(ascii: "\"") {
            limit += bytes[limit] == UInt8(ascii: "\\") ? 2 : 1
        }
        limit = min(limit, bytes.count)
    }

    private mutating func leaveString() {
        isInString = false
        limit = bytes.count
    }

    /// Returns the end of the markup that begins at `index`: after the last tag of the text or, if no tag is a closing one,
    /// the end of the text. A name directly before a bracket is that of a generic type, as in `Array<Int>`, unless a
    /// closing tag follows.
    private mutating func markupEnd(at index: Int, _ unit: Unit) -> Int? {
        guard kind == .text || isInString, unit.end < limit else { return nil }
        let next = self.unit(at: unit.end).byte
        guard ASCII.isLetter(next) || "/!?".utf8.contains(next) else { return nil }
        var (lastClosing, end) = (-1, limit)
        if let markup, markup.limit == limit {
            (_, lastClosing, end) = markup
        } else {
            var (place, before) = (index, UInt8(0))
            while place < limit {
                let unit = self.unit(at: place)
                if before == UInt8(ascii: "<"), unit.byte == UInt8(ascii: "/") { lastClosing = place }
                if unit.byte == UInt8(ascii: ">") { end = unit.end }
                (place, before) = (unit.end, unit.byte)
            }
            markup = (limit, lastClosing, end)
        }
        let isClosed = lastClosing > index
        guard isClosed || last != UInt8(ascii: "_") && !ASCII.isLetter(last) && !ASCII.isDigit(last) else { return nil }
        // Text after an opening tag is its content, which a limit may have cut off.
        return isClosed && end > index ? min(end, limit) : limit
    }

    // MARK: - URLs

    private mutating func slash(at index: Int, _ unit: Unit) {
        let isSecond = last == UInt8(ascii: "/")
        if !isSecond { beforeSlashes = last }
        // The slashes of `https:/u:p@h` and `//u:p@h` also begin an authority.
        if beforeSlashes == UInt8(ascii: ":")
            || isSecond && (Self.isBoundary(beforeSlashes) || "=,".utf8.contains(beforeSlashes))
        {
            authority = unit.end
            path.begin(at: unit.end)
        } else {
            endSegment(at: index, by: unit)
            authority = nil
        }
    }

    private mutating func endSegment(at end: Int, by unit: Unit) {
        guard !path.isUnused else { return }
        let isSlash = unit.byte == UInt8(ascii: "/")
        if authority == nil || kind == .url && authority == 0, isSlash || kind == .url || path.hasSlash {
            for (range, text) in path.end(bytes, at: end) { hide(range, by: text) }
        }
        if isSlash { path.skip(to: unit.end) } else { path.begin(at: unit.end) }
    }

    // MARK: - Values

    /// Hides the value after a separator and returns its end; nil if the name before the separator is not secret.
    private mutating func secretEnd(after separator: Unit, at index: Int, in place: SecretName.Place) -> Int? {
        let isQuoted = solidEnd == quote.range.upperBound && solidEnd > 0
        let range = isQuoted ? quoteBefore.upperBound..<quote.range.lowerBound : word
        guard isQuoted || solidEnd == word.upperBound, !range.isEmpty else { return nil }
        if place == .member, !isQuoted {
            // A host with a port, a method of a resource such as `/token:revoke`, and a place such as `$.tokens[0]`.
            let isIndex =
                bytes[range].last == UInt8(ascii: "]") && bytes[range].dropLast().last.map(ASCII.isDigit) == true
            if isIndex || authority != nil || kind == .url && separator.level == 0 { return nil }
        }
        guard isSecret(name(in: range), in: place) else { return nil }
        var start = separator.end
        if kind == .text || kind == .json {
            while start < limit {
                let next = unit(at: start)
                let isPart = start == separator.end && "=>".utf8.contains(next.byte)
                let isSpace = place == .member ? Self.isBlank(next.byte) : ASCII.isBlank(next.byte)
                guard isPart || isSpace else { break }
                start = next.end
            }
        }
        let first = start < bytes.count ? unit(at: start) : Unit(byte: 0x20, end: start)
        // The scheme of a URL, or a namespace, with the name of a secret.
        if place == .member, !isQuoted, matches("//", at: separator.end) || matches(":", at: separator.end) {
            return nil
        }
        let end = isInString ? limit : bytes.count
        if place == .member, start >= end { return nil }
        // In a string that is a URL, the value of a query item may contain blanks.
        let isItem = kind == .json && place == .pair && "?&#;".utf8.contains(beforeWord)
        if kind == .text || kind == .json, !isItem {
            if "\"'`".utf8.contains(first.byte) {
                let close = quoteEnd(from: first.end, like: first, to: end)
                hide(first.end..<close.lowerBound)
                return close.upperBound
            }
            let mark =
                place == .member && isQuoted
                ? bytes[quote.range] + Array(Redaction.mark.utf8) + bytes[quote.range] : Array(Redaction.mark.utf8)
            let valueEnd =
                "{[".utf8.contains(first.byte)
                ? containerEnd(from: start, to: end)
                : wordEnd(from: start, to: end, separator, place, name: range)
            hide(start..<max(start, valueEnd), by: mark)
            return max(separator.end, valueEnd)
        }
        let valueEnd = pairEnd(from: start, to: end, separator)
        hide(start..<valueEnd)
        return valueEnd
    }

    private func isSecret(_ name: String, in place: SecretName.Place) -> Bool {
        redaction.isSecret(name, in: place) || place == .member && kind != .url && redaction.isSecretField(name)
    }

    /// Returns the name with its escapes undone. Of a longer name, the last 128 bytes.
    private func name(in range: Range<Int>) -> String {
        let range = max(range.lowerBound, range.upperBound - 128)..<range.upperBound
        guard bytes[range].contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "\\") }) else {
            return String(decoding: bytes[range], as: UTF8.self)
        }
        var name: [UInt8] = []
        var index = range.lowerBound
        while index < range.upperBound {
            let unit = unit(at: index)
            let isLetter = bytes[index] == UInt8(ascii: "\\") && unit.byte == 0x0A
            name.append(isLetter ? bytes[unit.end - 1] : unit.byte < 0x80 ? unit.byte : 0x20)
            index = unit.end
        }
        // The letter of an escape may be the first one of the name or not: `\token`, `\npin`.
        if bytes[range.lowerBound] == UInt8(ascii: "\\") { name += [0x20] + name.dropFirst() }
        return String(decoding: name, as: UTF8.self)
    }

    /// Returns the closing quote of a string, or an empty range at `end`. A doubled quote closes nothing.
    private func quoteEnd(from start: Int, like first: Unit, to end: Int) -> Range<Int> {
        var index = start
        while index < end {
            let unit = unit(at: index)
            if unit.byte == first.byte, unit.level <= first.level {
                guard kind == .text, unit.end < end, bytes[unit.end] == first.byte else {
                    // Further backslashes before the quote belong to the string.
                    let isEscaped = bytes[index] == UInt8(ascii: "\\") && bytes[unit.end - 1] == first.byte
                    return (isEscaped ? unit.end - 1 << unit.level : index)..<unit.end
                }
                index = unit.end
            }
            index = self.unit(at: index).end
        }
        return end..<end
    }

    private func containerEnd(from start: Int, to end: Int) -> Int {
        var (depth, index) = (0, start)
        while index < end {
            let unit = unit(at: index)
            index = unit.end
            switch unit.byte {
            case UInt8(ascii: "\""): index = quoteEnd(from: index, like: unit, to: end).upperBound
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                if depth == 0 { return index }
            default: break
            }
        }
        return end
    }

    /// Returns the end of a value that is neither quoted nor in brackets.
    private func wordEnd(
        from start: Int, to end: Int, _ separator: Unit, _ place: SecretName.Place, name: Range<Int>
    ) -> Int {
        let stops = place == .member ? ",;&)}]<\"" : "&<>\""
        var (index, before) = (start, UInt8(0))
        let isLine = Self.wholeLine.contains(SecretName.plain(self.name(in: name)))
        while index < end {
            let unit = unit(at: index)
            if unit.level <= separator.level {
                if unit.byte == 0x0A || unit.byte == 0x0D { break }
                if !isLine {
                    if unit.byte == UInt8(ascii: "\""), "([{=:@".utf8.contains(before) {
                        // `password: Optional("…")`
                        index = quoteEnd(from: unit.end, like: unit, to: end).upperBound
                        before = unit.byte
                        continue
                    }
                    if stops.utf8.contains(unit.byte) { break }
                    // The credential follows the name of its scheme.
                    if Self.isBlank(unit.byte), !Self.isScheme(bytes[start..<index]) { break }
                }
            }
            (index, before) = (unit.end, unit.byte)
        }
        return min(index, end)
    }

    private func pairEnd(from start: Int, to end: Int, _ separator: Unit) -> Int {
        let isParameter = kind == .url && !isInQuery && beforeWord == UInt8(ascii: ";")
        var index = start
        while index < end {
            let unit = unit(at: index)
            if unit.level <= separator.level {
                switch unit.byte {
                case UInt8(ascii: "&"): return index
                case UInt8(ascii: "#"): if kind != .form { return index }
                case UInt8(ascii: ">"): if isInBrackets { return index }
                case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: ";"): if isParameter { return index }
                default: break
                }
            }
            index = unit.end
        }
        return end
    }

    /// The names whose values may contain spaces and extend to the end of the line.
    private static let wholeLine: Set<String> = [
        "authorization", "proxyauthorization", "cookie", "setcookie", "authenticationinfo", "credentials",
    ]

    // MARK: - Credentials

    private static let schemes: Set<String> = ["bearer", "basic", "dpop"]
    private static let allSchemes = schemes.union(["digest", "token", "negotiate", "ntlm", "hmac", "apikey"])

    private static func isScheme(_ word: ArraySlice<UInt8>) -> Bool {
        word.count < 10 && allSchemes.contains(String(decoding: word, as: UTF8.self).lowercased())
    }

    /// Returns the end of the credential after an authentication scheme and a space; nil if there is none.
    private func credentialEnd(from start: Int) -> Int? {
        guard word.count < 7, word.count > 3, !redaction.hidesNothing,
            Self.schemes.contains(name(in: word).lowercased()), redaction.isSecret(header: .authorization)
        else { return nil }
        var end = start
        while end < bytes.count, Self.isCredential[Int(bytes[end])] { end += 1 }
        let credential = bytes[start..<end]
        // In prose, a short word follows the name of the scheme: "the bearer token", "basic access". A parameter of a
        // challenge is `realm="x"`.
        let isProse =
            credential.count < 20
            && credential.allSatisfy { ASCII.isLetter($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "=") }
        return credential.isEmpty || isProse ? nil : end
    }

    /// The bytes of a `token68` credential (RFC 9110 §11.2).
    private static let isCredential: [Bool] = (0..<256).map { (byte: Int) in
        ASCII.isLetter(UInt8(byte)) || ASCII.isDigit(UInt8(byte)) || "-_.~+/=%".utf8.contains(UInt8(byte))
    }
}
