// SPDX-License-Identifier: MIT

extension URITemplate {
    /// The value of a variable: text, a list, or an ordered associative array (RFC 6570 §2.3).
    ///
    /// Literals of these kinds are values: `"ann"`, `["bug", "ui"]`, `["page": "2", "size": "50"]`. An empty list or
    /// array is the same as no value; an empty text is a value.
    public enum Value: Sendable, Hashable {
        /// A text, not percent-encoded.
        case text(String)
        /// Texts in order, not percent-encoded.
        case list([String])
        /// Names and values in order, not percent-encoded.
        case pairs([Pair])

        /// A member of an associative array.
        public struct Pair: Sendable, Hashable {
            /// The name, not percent-encoded.
            public let name: String
            /// The value, not percent-encoded.
            public let value: String

            /// Creates a member.
            public init(_ name: String, _ value: String) {
                self.name = name
                self.value = value
            }
        }

        /// All texts of the value: names and values of pairs in order.
        package var texts: [String] {
            switch self {
            case .text(let text): [text]
            case .list(let texts): texts
            case .pairs(let pairs): pairs.flatMap { [$0.name, $0.value] }
            }
        }

        /// Whether the value counts as undefined: a list or an array without members.
        package var isUndefined: Bool {
            switch self {
            case .text: false
            case .list(let texts): texts.isEmpty
            case .pairs(let pairs): pairs.isEmpty
            }
        }
    }

    /// Returns the template with its variables replaced by their values, as RFC 6570 §3 defines.
    ///
    /// A variable without a value is omitted. Values are percent-encoded: all of them that are not unreserved
    /// characters, or for `{+name}` and `{#name}` all that are neither reserved nor already encoded. Throws the problem
    /// of a malformed literal, and `SyntaxError` for a prefix, such as `{name:3}`, of a list or an associative array.
    public func expand(_ variables: [String: Value]) throws(SyntaxError) -> String {
        if let problem { throw problem }
        var text = ""
        for part in parts {
            switch part {
            case .literal(let literal): text += literal
            case .expression(let expression): text += try expression.expanded(variables)
            }
        }
        return text
    }
}

extension URITemplate.Value: ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    /// Creates a text.
    public init(stringLiteral value: String) { self = .text(value) }

    /// Creates a list in the order of the literal.
    public init(arrayLiteral elements: String...) { self = .list(elements) }

    /// Creates an associative array in the order of the literal.
    public init(dictionaryLiteral elements: (String, String)...) {
        self = .pairs(elements.map { Pair($0, $1) })
    }
}

extension URITemplate.Expression {
    /// Returns the expansion of the expression; empty if no variable has a value.
    package func expanded(_ variables: [String: URITemplate.Value]) throws(URITemplate.SyntaxError) -> String {
        var texts: [String] = []
        for variable in self.variables {
            guard let value = variables[variable.name], !value.isUndefined else { continue }
            texts.append(try expanded(variable, value))
        }
        return texts.isEmpty ? "" : kind.first + texts.joined(separator: kind.separator)
    }

    private func expanded(
        _ variable: URITemplate.Variable, _ value: URITemplate.Value
    ) throws(URITemplate.SyntaxError) -> String {
        switch value {
        case .text(let text):
            let encoded = kind.encoded(variable.prefix.map { kind.prefix($0, of: text) } ?? text)
            return kind.isNamed ? kind.named(variable.name, encoded) : encoded
        case .list(let texts):
            try refusePrefix(of: variable)
            let encoded = texts.map(kind.encoded)
            guard variable.isExploded else {
                let joined = encoded.joined(separator: ",")
                return kind.isNamed ? "\(variable.name)=\(joined)" : joined
            }
            return (kind.isNamed ? encoded.map { kind.named(variable.name, $0) } : encoded)
                .joined(separator: kind.separator)
        case .pairs(let pairs):
            try refusePrefix(of: variable)
            let encoded = pairs.map { (kind.encoded($0.name), kind.encoded($0.value)) }
            guard variable.isExploded else {
                let joined = encoded.map { $0 + "," + $1 }.joined(separator: ",")
                return kind.isNamed ? "\(variable.name)=\(joined)" : joined
            }
            return encoded.map { kind.isNamed ? kind.named($0, $1) : "\($0)=\($1)" }.joined(separator: kind.separator)
        }
    }

    private func refusePrefix(of variable: URITemplate.Variable) throws(URITemplate.SyntaxError) {
        guard variable.prefix == nil else {
            throw URITemplate.SyntaxError(
                message: "The prefix of \(variable.name) needs a text, and its value has several members",
                position: position)
        }
    }
}

/// The table of RFC 6570, appendix A.
extension URITemplate.Kind {
    /// The text before the first defined variable.
    var first: String {
        switch self {
        case .simple, .reserved: ""
        case .fragment: "#"
        case .label: "."
        case .segments: "/"
        case .parameters: ";"
        case .query: "?"
        case .continuation: "&"
        }
    }

    /// The text between variables, and between the members of an exploded one.
    var separator: String {
        switch self {
        case .simple, .reserved, .fragment: ","
        case .query: "&"
        default: first
        }
    }

    /// Whether the name of a variable stands before its value.
    package var isNamed: Bool { self == .parameters || self == .query || self == .continuation }

    /// Whether reserved characters and encoded bytes of values are copied.
    package var keepsReserved: Bool { self == .reserved || self == .fragment }

    fileprivate func named(_ name: String, _ value: String) -> String {
        value.isEmpty && self == .parameters ? name : "\(name)=\(value)"
    }

    fileprivate func encoded(_ text: String) -> String {
        guard keepsReserved else { return PercentCoding.encode(text, keeping: .unreserved) }
        guard text.holds("%") else { return PercentCoding.encode(text, keeping: URITemplate.reservedBytes) }
        var result = ""
        var rest = Array(text.utf8)[...]
        while let sign = rest.firstIndex(of: 0x25) {
            let isEncoded = URITemplate.isTriplet(rest[sign...])
            result += PercentCoding.encode(
                String(decoding: rest[..<sign], as: UTF8.self), keeping: URITemplate.reservedBytes)
            result += isEncoded ? String(decoding: rest[sign..<(sign + 3)], as: UTF8.self) : "%25"
            rest = rest[(sign + (isEncoded ? 3 : 1))...]
        }
        return result
            + PercentCoding.encode(String(decoding: rest, as: UTF8.self), keeping: URITemplate.reservedBytes)
    }

    /// Returns the first `length` code points. Where encoded bytes are copied, those of one code point count as one.
    fileprivate func prefix(_ length: Int, of text: String) -> String {
        guard keepsReserved, text.holds("%") else {
            return String(String.UnicodeScalarView(text.unicodeScalars.prefix(length)))
        }
        let bytes = Array(text.utf8)
        var index = 0
        for _ in 0..<length where index < bytes.count {
            let lead = Self.byte(bytes, index)
            index += lead.length
            let more = lead.value >= 0xF0 ? 3 : lead.value >= 0xE0 ? 2 : lead.value >= 0xC0 ? 1 : 0
            for _ in 0..<more where index < bytes.count {
                let next = Self.byte(bytes, index)
                guard next.value & 0xC0 == 0x80 else { break }
                index += next.length
            }
        }
        return String(decoding: bytes[..<index], as: UTF8.self)
    }

    /// Returns the byte at `index`, decoded, and the number of bytes that it occupies.
    private static func byte(_ bytes: [UInt8], _ index: Int) -> (value: UInt8, length: Int) {
        guard URITemplate.isTriplet(bytes[index...]), let high = ASCII.hexValue(bytes[index + 1]),
            let low = ASCII.hexValue(bytes[index + 2])
        else { return (bytes[index], 1) }
        return (high << 4 | low, 3)
    }
}
