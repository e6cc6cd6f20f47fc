// SPDX-License-Identifier: MIT

extension SecretScanner {
    /// Hides the value after a separator and returns its end; nil if the name before the separator is not secret.
    mutating func secretEnd(after separator: Unit, at index: Int, in location: SecretName.Location) -> Int? {
        let isQuoted = solidEnd == quote.upperBound && solidEnd > 0
        let range = isQuoted ? quoteBefore.upperBound..<quote.lowerBound : word
        guard isQuoted || solidEnd == word.upperBound, !range.isEmpty else { return nil }
        if location == .member, !isQuoted {
            // A host with a port, a method of a resource such as `/token:revoke`, and a place such as `$.tokens[0]`.
            let isIndex =
                bytes[range].last == UInt8(ascii: "]") && bytes[range].dropLast().last.map(ASCII.isDigit) == true
            if isIndex || authority != nil || kind == .url && separator.level == 0 { return nil }
        }
        let name = name(in: range)
        let mayBeField = location == .member && kind != .url
        guard redaction.isSecret(name, in: location) || mayBeField && redaction.isSecretField(name) else { return nil }
        var start = separator.end
        if isText {
            while start < limit {
                let next = unit(at: start)
                let isPart = start == separator.end && "=>".utf8.contains(next.byte)
                let isSpace = location == .member ? Self.isBlank(next.byte) : ASCII.isBlank(next.byte)
                guard isPart || isSpace else { break }
                start = next.end
            }
        }
        let first = start < bytes.count ? unit(at: start) : Unit(byte: 0x20, end: start)
        // The scheme of a URL, or a namespace, with the name of a secret.
        if location == .member, !isQuoted, matches("//", at: separator.end) || matches(":", at: separator.end) {
            return nil
        }
        let end = isInString ? limit : bytes.count
        if location == .member, start >= end { return nil }
        // In a string that is a URL, the value of a query item may contain blanks.
        let isItem = kind == .json && location == .pair && "?&#;".utf8.contains(beforeWord)
        if isText, !isItem {
            if "\"'`".utf8.contains(first.byte) {
                let close = quoteEnd(from: first.end, like: first, to: end)
                hide(first.end..<close.lowerBound)
                return close.upperBound
            }
            let mark =
                location == .member && isQuoted
                ? bytes[quote] + Array(Redaction.mark.utf8) + bytes[quote] : Array(Redaction.mark.utf8)
            let valueEnd =
                "{[".utf8.contains(first.byte)
                ? containerEnd(from: start, to: end)
                : wordEnd(from: start, to: end, separator, location, name: range)
            hide(start..<max(start, valueEnd), by: mark)
            return max(separator.end, valueEnd)
        }
        let valueEnd = pairEnd(from: start, to: end, separator)
        hide(start..<valueEnd)
        return valueEnd
    }

    /// Returns the name with its escapes decoded. Of a longer name, the last 128 bytes.
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
        from start: Int, to end: Int, _ separator: Unit, _ location: SecretName.Location, name: Range<Int>
    ) -> Int {
        let stops = location == .member ? ",;&)}]<\"" : "&<>\""
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
    func credentialEnd(from start: Int) -> Int? {
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
