// SPDX-License-Identifier: MIT

extension URLParts {
    /// Resolves a URL reference against the URL with this `origin` and `target`. Removes the fragment.
    ///
    /// Follows RFC 3986 §5.2, and for invalid references the behaviour of browsers (WHATWG URL §4.4):
    ///
    /// - White space around the reference, and all tabs and line breaks, are removed.
    /// - A backslash before the query counts as a slash.
    /// - Two or more slashes begin an authority. After a scheme that differs from the scheme of `origin`, an authority
    ///   follows any number of slashes, even none.
    /// - `http:path` is relative to a base with the same scheme.
    /// - `%2E` counts as a dot in dot segments.
    package init(resolving reference: String, against origin: Origin, target: String) throws(URLProblem) {
        var bytes = Array(reference.utf8.filter { $0 != 0x09 && $0 != 0x0A && $0 != 0x0D })
        while let last = bytes.last, last <= 0x20 { bytes.removeLast() }
        bytes.removeFirst(bytes.prefix { $0 <= 0x20 }.count)
        if let fragment = bytes.firstIndex(of: 0x23) { bytes.removeSubrange(fragment...) }

        let mark = bytes.firstIndex(of: 0x3F) ?? bytes.endIndex
        let query = bytes[mark...]
        var remainder = bytes[..<mark].map { $0 == 0x5C ? 0x2F : $0 }[...]
        var scheme = origin.scheme
        if let written = Self.scheme(of: remainder) {
            guard written == "http" || written == "https" else {
                throw URLProblem.foreignScheme
            }
            remainder = remainder.dropFirst(written.utf8.count + 1)
            if written != scheme, !remainder.starts(with: Self.slashes) { remainder = Self.slashes + remainder }
            scheme = written
        }

        var text = Array("\(scheme)://".utf8)
        if remainder.starts(with: Self.slashes) {
            remainder = remainder.drop { $0 == 0x2F }
            let path = remainder.firstIndex(of: 0x2F) ?? remainder.endIndex
            text += remainder[..<path] + Self.withoutDots(remainder[path...]) + query
        } else {
            let own = Array(target.utf8)
            let path = own.prefix { $0 != 0x3F }
            text += origin.authority.utf8
            if remainder.first == 0x2F {
                text += Self.withoutDots(remainder) + query
            } else if !remainder.isEmpty {
                let folder = path[..<((path.lastIndex(of: 0x2F) ?? -1) + 1)]
                text += Self.withoutDots(folder + remainder) + query
            } else {
                text += path + (query.isEmpty ? own[path.endIndex...] : query)
            }
        }
        try self.init(String(decoding: text, as: UTF8.self))
    }

    private static let slashes: [UInt8] = [0x2F, 0x2F]

    /// Returns the scheme in lower case; nil if the reference does not begin with a scheme.
    private static func scheme(of bytes: ArraySlice<UInt8>) -> String? {
        guard let colon = bytes.firstIndex(of: 0x3A) else { return nil }
        let scheme = ASCII.lowercased(String(decoding: bytes[..<colon], as: UTF8.self))
        return HostSyntax.isScheme(scheme) ? scheme : nil
    }

    /// Returns the path without dot segments (RFC 3986 §5.2.4). The path must begin with a slash or be empty.
    private static func withoutDots(_ path: ArraySlice<UInt8>) -> [UInt8] {
        guard !path.isEmpty else { return [] }
        let segments = path.dropFirst().split(separator: 0x2F, omittingEmptySubsequences: false)
        var kept: [ArraySlice<UInt8>] = []
        for (position, segment) in segments.enumerated() {
            let dots = dotCount(segment)
            if dots == 0 {
                kept.append(segment)
                continue
            }
            if dots == 2 { _ = kept.popLast() }
            // A dot segment at the end refers to a folder, whose path ends with a slash.
            if position == segments.count - 1 { kept.append([]) }
        }
        return [0x2F] + kept.joined(separator: [0x2F])
    }

    /// Returns the number of dots in a dot segment, encoded or not: 1 for ".", 2 for "..", and 0 for any other segment.
    private static func dotCount(_ segment: ArraySlice<UInt8>) -> Int {
        guard (1...6).contains(segment.count) else { return 0 }
        let plain = PercentCoding.decodeLeniently(Array(segment))
        return plain == [0x2E] ? 1 : plain == [0x2E, 0x2E] ? 2 : 0
    }
}
