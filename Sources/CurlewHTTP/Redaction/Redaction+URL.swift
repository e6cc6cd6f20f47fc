// SPDX-License-Identifier: MIT

extension Redaction {
    /// Returns the URL with its secrets replaced: secret values in the query, the fragment and path parameters, and the
    /// parts of the path that `pathPatterns` match. The userinfo is removed. Names and order are kept.
    public func url(_ url: String) -> String {
        // Compares bytes: a delimiter with a combining mark is another `Character`, but still a delimiter.
        var text = url.utf8[...]
        var result = ""
        if let scheme = text.firstRange(of: "://".utf8) {
            let authorityEnd = text[scheme.upperBound...].firstIndex { "/?#".utf8.contains($0) } ?? text.endIndex
            let at = text[scheme.upperBound..<authorityEnd].lastIndex(of: Self.at).map { text.index(after: $0) }
            result = String(Substring(text[..<scheme.upperBound]))
            result += Substring(text[(at ?? scheme.upperBound)..<authorityEnd])
            text = text[authorityEnd...]
        }
        let mark = text.firstIndex(where: Self.isMark) ?? text.endIndex
        result += path(Substring(text[..<mark]))
        guard mark < text.endIndex else { return result }
        // A fragment may begin with a path, `#/callback?token=…`, so every delimiter begins new pairs.
        let parts = text[mark...].split(omittingEmptySubsequences: false, whereSeparator: Self.isMark)
        for part in parts.dropFirst() {
            result.unicodeScalars.append(Unicode.Scalar(text[text.index(before: part.startIndex)]))
            result += pairs(Substring(part))
        }
        return result
    }

    /// Returns the redacted text of a URL that cannot be parsed. The end of its userinfo is unknown, so everything
    /// before the last `@` is hidden, except the scheme.
    package func unusable(url text: String) -> String {
        let bytes = text.utf8
        guard !hidesNothing, let at = bytes.lastIndex(of: Self.at) else { return self.url(text) }
        let rest = String(Substring(bytes[bytes.index(after: at)...]))
        let colon = bytes.firstIndex(of: UInt8(ascii: ":"))
        let slashes = colon.map { bytes[bytes.index(after: $0)...].prefix { $0 == UInt8(ascii: "/") } }
        guard let slashes, !slashes.isEmpty, slashes.endIndex <= at else { return self.url(rest) }
        return String(Substring(bytes[..<slashes.endIndex])) + Self.mark + "@" + self.url(rest)
    }

    private static let at = UInt8(ascii: "@")

    private static func isMark(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") }

    // MARK: - Paths

    /// Returns a path with the values of secret parameters (`;jsessionid=…`) and the matches of `pathPatterns`
    /// replaced.
    private func path(_ path: Substring) -> String {
        var segments = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
        for pattern in pathPatterns {
            let wanted = pattern.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
            guard !wanted.isEmpty, wanted.count <= segments.count else { continue }
            for start in 0...(segments.count - wanted.count) {
                let shown = zip(wanted, segments[start...]).compactMap { Self.hide($1, by: $0) }
                guard shown.count == wanted.count else { continue }
                segments.replaceSubrange(start..<(start + wanted.count), with: shown)
            }
        }
        return segments.map { $0.utf8.contains(UInt8(ascii: ";")) ? parameters($0) : $0 }.joined(separator: "/")
    }

    private func parameters(_ segment: String) -> String {
        segment.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false).map { part in
            guard let equals = part.firstIndex(of: UInt8(ascii: "=")),
                isSecret(queryName: Substring(part[..<equals]))
            else { return String(Substring(part)) }
            return Substring(part[...equals]) + Self.mark
        }.joined(separator: ";")
    }

    /// Returns the segment with the part that `*` in `pattern` matches replaced; nil if the segment does not match.
    /// Percent-encoded letters and letters of another case match, because a server may treat them as equal.
    private static func hide(_ segment: String, by pattern: String) -> String? {
        let parts = pattern.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
        let read = (PercentCoding.decode(segment) ?? segment).lowercased().utf8
        guard let first = parts.first, let last = parts.last, parts.count > 1 else {
            return read.elementsEqual(pattern.lowercased().utf8) ? segment : nil
        }
        guard read.count > first.utf8.count + last.utf8.count, read.starts(with: first.lowercased().utf8),
            read.suffix(last.utf8.count).elementsEqual(last.lowercased().utf8)
        else { return nil }
        return first + mark + last
    }
}
