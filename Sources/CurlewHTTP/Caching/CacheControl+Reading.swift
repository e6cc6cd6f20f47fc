// SPDX-License-Identifier: MIT

extension CacheControl {
    private static let maximum = 64

    /// Parses all `Cache-Control` fields of a message.
    package init(_ headers: HTTPHeaders) {
        self.init(headers[.cacheControl] ?? "")
    }

    /// Parses the value of a `Cache-Control` field: `1#( token [ "=" ( token / quoted-string ) ] )`. A malformed member
    /// is kept with `isMalformed` set.
    package init(_ value: String) {
        var reader = FieldReader(value)
        var found: [Directive] = []
        while !reader.isAtEnd, found.count < Self.maximum {
            if let directive = reader.directive() { found.append(directive) }
        }
        self.init(found)
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
        guard take(0x3D) else { return CacheControl.Directive(name, isMalformed: !skipToComma()) }
        guard remainder.first == 0x22 else {
            let argument = token()
            let isClean = skipToComma()
            return CacheControl.Directive(name, argument, isMalformed: argument == nil || !isClean)
        }
        var ahead = self
        guard let argument = ahead.quotedString() else {
            // Only the text up to the next comma is skipped, because a directive after the unterminated quote may
            // forbid storing.
            _ = skipToComma()
            return CacheControl.Directive(name, isMalformed: true)
        }
        self = ahead
        return CacheControl.Directive(name, argument, isMalformed: !skipToComma())
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
