// SPDX-License-Identifier: MIT

import CurlewFoundation

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

    /// A byte with its escapes decoded, where it ends, and how many escapes there were.
    struct Unit {
        var byte: UInt8
        var end: Int
        var level = 0
    }

    let redaction: Redaction
    let kind: Kind
    let bytes: [UInt8]
    var isText: Bool { kind == .text || kind == .json }
    private var edits: [(range: Range<Int>, text: [UInt8])] = []

    /// The end of the string of JSON that contains the current byte, without its quote, or the end of the text.
    var limit: Int
    var isInString = false
    /// The range of the last word (bytes that can be part of a name), and the byte before it.
    var word = 0..<0
    var beforeWord: UInt8 = 0x20
    /// The last two quotes.
    var quote = 0..<0
    var quoteBefore = 0..<0
    /// The end of the last byte that is not a blank.
    var solidEnd = 0
    /// The preceding byte, and the one before the slashes that end here.
    private var last: UInt8 = 0x20
    private var beforeSlashes: UInt8 = 0x20
    /// The possible start of the userinfo of a URL.
    var authority: Int?
    var isInQuery = false
    var isInBrackets = false
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

    static func redact(_ text: String, as kind: Kind, _ redaction: Redaction) -> String {
        var scanner = SecretScanner(text, kind, redaction)
        scanner.scan()
        return scanner.edits.isEmpty ? text : scanner.result
    }

    private var result: String {
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        var index = 0
        for edit in edits.ordered(by: { $0.range.lowerBound < $1.range.lowerBound }) {
            // An edit may lie in another one, as a password in a secret part of a path.
            if edit.range.lowerBound >= index {
                output += bytes[index..<edit.range.lowerBound]
                output += edit.text
            }
            index = max(index, edit.range.upperBound)
        }
        return String(decoding: output + bytes[index...], as: UTF8.self)
    }

    mutating func hide(_ range: Range<Int>, by text: [UInt8] = Array(Redaction.mark.utf8)) {
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
            (quoteBefore, quote) = (quote, index..<unit.end)
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

    /// Returns the byte at `start` with all of its escapes decoded. A byte outside of ASCII is 0x80.
    func unit(at start: Int) -> Unit {
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

    func matches(_ text: StaticString, at index: Int) -> Bool {
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

    static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte >= 0x09 && byte <= 0x0D }

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

    /// Returns the end of the markup that begins at `index`: after the last tag of the text or, if no tag is a closing
    /// one, the end of the text. A name directly before a bracket is that of a generic type, as in `Array<Int>`, unless
    /// a closing tag follows.
    private mutating func markupEnd(at index: Int, _ unit: Unit) -> Int? {
        guard kind == .text || isInString, unit.end < limit else { return nil }
        let next = self.unit(at: unit.end).byte
        guard ASCII.isLetter(next) || "/!?".utf8.contains(next) else { return nil }
        var (lastClosing, end) = (-1, limit)
        if let markup, markup.limit == limit {
            (_, lastClosing, end) = markup
        } else {
            var (position, before) = (index, UInt8(0))
            while position < limit {
                let unit = self.unit(at: position)
                if before == UInt8(ascii: "<"), unit.byte == UInt8(ascii: "/") { lastClosing = position }
                if unit.byte == UInt8(ascii: ">") { end = unit.end }
                (position, before) = (unit.end, unit.byte)
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
}
