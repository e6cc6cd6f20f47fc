// SPDX-License-Identifier: MIT

/// Validates the host of a URL. Stricter than RFC 3986, which allows almost any registered name.
enum HostSyntax {
    /// Returns the problem with a host, as the end of a sentence; `nil` if the host is valid. The host must be in lower
    /// case.
    static func problem(of host: String) -> String? {
        let bytes = host.utf8
        if bytes.isEmpty { return "has no host; write scheme://host/path" }
        if bytes.first == 0x5B {
            guard bytes.last == 0x5D, bytes.count <= 64, isIPv6(bytes.dropFirst().dropLast()) else {
                return "has an IPv6 address that cannot be read; write it as [2001:db8::1]"
            }
            return nil
        }
        if let bad = bytes.first(where: { !allowed.contains($0) }) { return complaint(about: bad) }
        return labelProblem(bytes)
    }

    /// Returns whether the bytes are an IPv4 address: four decimal numbers up to 255, without leading zeros, separated
    /// by dots.
    static func isIPv4(_ bytes: some Collection<UInt8>) -> Bool {
        let parts = bytes.split(separator: 0x2E, omittingEmptySubsequences: false)
        return parts.count == 4
            && parts.allSatisfy { part in
                part.count <= 3 && (part.count == 1 || part.first != 0x30) && (ASCII.decimal(part) ?? 256) <= 255
            }
    }

    /// Returns whether the text is a valid scheme (RFC 3986 §3.1).
    static func isScheme(_ text: String) -> Bool {
        guard let first = text.utf8.first, ASCII.isLetter(first) else { return false }
        let set = schemeBytes
        return text.utf8.allSatisfy(set.contains)
    }

    /// Returns whether the bytes are an IPv6 address (RFC 4291 §2.2): eight groups of hex digits, with at most one run
    /// of zeros written as "::" and an optional IPv4 address at the end.
    private static func isIPv6(_ bytes: some BidirectionalCollection<UInt8>) -> Bool {
        let groups = bytes.split(separator: 0x3A, omittingEmptySubsequences: false)
        guard (3...9).contains(groups.count) else { return false }
        var length = 0
        var gaps = 0
        for (position, group) in groups.enumerated() {
            if group.isEmpty {
                // An empty group at either end must be half of a "::".
                let neighbour = position == 0 ? 1 : position == groups.count - 1 ? position - 1 : position
                guard groups[neighbour].isEmpty else { return false }
                if position != 0, position != groups.count - 1 { gaps += 1 }
            } else if position == groups.count - 1, group.contains(0x2E) {
                guard isIPv4(group) else { return false }
                length += 2
            } else {
                guard group.count <= 4, group.allSatisfy({ ASCII.hexValue($0) != nil }) else { return false }
                length += 1
            }
        }
        return gaps == 0 ? length == 8 : gaps == 1 && length <= 7
    }

    private static func labelProblem(_ bytes: String.UTF8View) -> String? {
        // A trailing dot does not count.
        guard bytes.count <= 253 || bytes.count == 254 && bytes.last == 0x2E else {
            return "has a host of more than 253 characters; check it"
        }
        var labels = bytes.split(separator: 0x2E, omittingEmptySubsequences: false)
        // A single trailing dot marks a fully qualified name.
        if labels.count > 1, labels.last?.isEmpty == true { labels.removeLast() }
        guard labels.allSatisfy({ !$0.isEmpty }) else { return "has a host with an empty part; remove the extra dot" }
        guard labels.allSatisfy({ $0.count <= 63 }) else {
            return "has a host with a part of more than 63 characters; check it"
        }
        return nil
    }

    private static func complaint(about byte: UInt8) -> String {
        switch byte {
        case 0x80...: "has a host outside ASCII; write its punycode form, which starts with xn--"
        case 0x25: "has a percent sign in its host; write the host unencoded"
        case 0x40: "has an @ where its host should be; write %40 in a user name or password"
        case 0x5C: "has a backslash; write / instead"
        case 0x20: "has a space in its host; remove it"
        case _ where ASCII.isControl(byte): "has a control character in its host; remove it"
        default: "has a character in its host that no name may contain; use letters, digits, hyphens and dots"
        }
    }

    private static let allowed = ByteSet.alphanumerics.union("-._~")
    private static let schemeBytes = ByteSet.alphanumerics.union("+-.")
}
