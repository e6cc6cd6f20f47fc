// SPDX-License-Identifier: MIT

/// The value of a `Strict-Transport-Security` field: a server's request to use only https (RFC 6797 §6.1).
package struct StrictTransportSecurity: Hashable, Sendable {
    /// The lifetime of the policy in seconds, at most a hundred years. Zero ends the policy.
    package let maxAge: Int64
    /// Whether the policy also applies to subdomains of the host.
    package let includesSubdomains: Bool

    /// Creates a policy. The lifetime is clamped to the range from zero to a hundred years.
    package init(maxAge: Int64, includesSubdomains: Bool = false) {
        self.maxAge = min(max(0, maxAge), Self.longest)
        self.includesSubdomains = includesSubdomains
    }

    /// Parses a field value. Returns nil if the value violates the grammar, has no `max-age`, or repeats a directive.
    /// Unknown directives are ignored.
    package init?(_ value: String) {
        guard let directives = Self.directives(of: Array(value.utf8)) else { return nil }
        var age: Int64?
        var includesSubdomains = false
        var seen: Set<String> = []
        for (name, argument) in directives {
            guard seen.insert(name).inserted else { return nil }
            switch name {
            case "max-age":
                guard let argument, !argument.isEmpty, argument.allSatisfy(ASCII.isDigit) else { return nil }
                age = ASCII.decimal(argument, as: Int64.self) ?? Self.longest
            case "includesubdomains":
                guard argument == nil else { return nil }
                includesSubdomains = true
            default: break
            }
        }
        guard let age else { return nil }
        self.init(maxAge: age, includesSubdomains: includesSubdomains)
    }

    private static let longest: Int64 = 100 * 365 * 86_400

    private static func directives(of bytes: [UInt8]) -> [(name: String, argument: [UInt8]?)]? {
        var result: [(name: String, argument: [UInt8]?)] = []
        var position = 0
        func skipBlanks() {
            while position < bytes.count, ASCII.isBlank(bytes[position]) { position += 1 }
        }
        func token() -> [UInt8] {
            let start = position
            while position < bytes.count, ByteSet.token.contains(bytes[position]) { position += 1 }
            return Array(bytes[start..<position])
        }
        while true {
            skipBlanks()
            let name = token()
            var argument: [UInt8]?
            skipBlanks()
            if position < bytes.count, bytes[position] == UInt8(ascii: "=") {
                position += 1
                skipBlanks()
                let isQuoted = position < bytes.count && bytes[position] == UInt8(ascii: "\"")
                guard let text = isQuoted ? quoted(bytes, &position) : token(), isQuoted || !text.isEmpty else {
                    return nil
                }
                argument = text
                skipBlanks()
            }
            if name.isEmpty, argument != nil { return nil }
            // Empty directives, as after a trailing semicolon, are allowed.
            if !name.isEmpty { result.append((String(decoding: name.map(ASCII.lower), as: UTF8.self), argument)) }
            if position == bytes.count { return result }
            guard bytes[position] == UInt8(ascii: ";") else { return nil }
            position += 1
        }
    }

    private static func quoted(_ bytes: [UInt8], _ position: inout Int) -> [UInt8]? {
        var text: [UInt8] = []
        position += 1
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            if byte == UInt8(ascii: "\"") { return text }
            guard byte == UInt8(ascii: "\\") else {
                text.append(byte)
                continue
            }
            guard position < bytes.count else { return nil }
            text.append(bytes[position])
            position += 1
        }
        return nil
    }
}
