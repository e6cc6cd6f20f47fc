// SPDX-License-Identifier: MIT

extension CacheControl {
    /// Reads a targeted field such as `CDN-Cache-Control` (RFC 9213 §2.1); nil if it is empty or no Dictionary of
    /// RFC 8941 §3.2: then the next target counts, or `Cache-Control`.
    ///
    /// Parameters are ignored, of two members with one name the last counts, and `name=?0` is no directive. A duration
    /// that is not an Integer is malformed.
    public init?(targeted value: String) {
        var reader = FieldReader(value)
        guard let members = reader.dictionary(), !members.isEmpty else { return nil }
        self.init(members)
    }

    /// The directives that count for a cache with these targets, in its order of preference, and whether they came from
    /// a targeted field, beside which `Cache-Control` and `Expires` are ignored (RFC 9213 §2.2).
    package static func effective(
        in headers: HTTPHeaders, targets: [HTTPField.Name]
    ) -> (control: CacheControl, isTargeted: Bool) {
        for target in targets {
            if let value = headers[target], let control = CacheControl(targeted: value) { return (control, true) }
        }
        return (CacheControl(headers), false)
    }
}

/// RFC 8941 §4.2, as far as directives need it.
extension FieldReader {
    private static let keyStart = ByteSet("abcdefghijklmnopqrstuvwxyz*")
    private static let key = ByteSet("abcdefghijklmnopqrstuvwxyz0123456789_-.*")
    private static let tokenRest = ByteSet.token.union(":/")
    private static let base64 = ByteSet.alphanumerics.union("+/=")

    fileprivate mutating func dictionary() -> [CacheControl.Directive]? {
        var members: [CacheControl.Directive] = []
        rest = rest.drop { $0 == 0x20 }
        while !isAtEnd {
            guard members.count < 64, let name = structuredKey() else { return nil }
            members.removeAll { $0.name == name }
            if take(0x3D) {
                guard let value = innerList() ? .some(Bare.other) : bareItem(), parameters() else { return nil }
                if let directive = value.directive(name) { members.append(directive) }
            } else {
                guard parameters() else { return nil }
                members.append(CacheControl.Directive(name))
            }
            skipBlanks()
            if isAtEnd { return members }
            guard take(0x2C) else { return nil }
            skipBlanks()
            if isAtEnd { return nil }
        }
        return members
    }

    private enum Bare {
        case integer(String)
        case text(String)
        case truth(Bool)
        case other

        /// A String of digits is not the Integer that a duration has to be.
        func directive(_ name: String) -> CacheControl.Directive? {
            switch self {
            case .integer(let digits): CacheControl.Directive(name, digits)
            case .text(let text):
                CacheControl.Directive(name, text, isMalformed: CacheControl.deltaSeconds(text) != nil)
            case .truth(let truth): truth ? CacheControl.Directive(name) : nil
            case .other: CacheControl.Directive(name, isMalformed: true)
            }
        }
    }

    private mutating func structuredKey() -> String? {
        guard let first = rest.first, Self.keyStart.contains(first) else { return nil }
        let bytes = rest.prefix(while: Self.key.contains)
        rest = rest[bytes.endIndex...]
        return String(Substring(bytes))
    }

    /// `*( ";" *SP key [ "=" bare-item ] )`
    private mutating func parameters() -> Bool {
        while take(0x3B) {
            rest = rest.drop { $0 == 0x20 }
            guard structuredKey() != nil else { return false }
            if take(0x3D), bareItem() == nil { return false }
        }
        return true
    }

    /// False, and nothing read, if there is no well-formed list here.
    private mutating func innerList() -> Bool {
        guard rest.first == 0x28 else { return false }
        var ahead = self
        _ = ahead.take(0x28)
        while true {
            ahead.rest = ahead.rest.drop { $0 == 0x20 }
            if ahead.take(0x29) { break }
            guard ahead.bareItem() != nil, ahead.parameters() else { return false }
            guard ahead.rest.first == 0x20 || ahead.rest.first == 0x29 else { return false }
        }
        self = ahead
        return true
    }

    private mutating func bareItem() -> Bare? {
        guard let first = rest.first else { return nil }
        switch first {
        case 0x22:
            return structuredString().map(Bare.text)
        case 0x3F:
            rest.removeFirst()
            if take(0x31) { return .truth(true) }
            return take(0x30) ? .truth(false) : nil
        case 0x3A:
            rest.removeFirst()
            rest = rest.drop(while: Self.base64.contains)
            return take(0x3A) ? .other : nil
        case 0x2D, 0x30...0x39:
            return number()
        default:
            guard ASCII.isLetter(first) || first == 0x2A else { return nil }
            let bytes = rest.prefix(while: Self.tokenRest.contains)
            rest = rest[bytes.endIndex...]
            return .text(String(Substring(bytes)))
        }
    }

    private mutating func number() -> Bare? {
        let isNegative = take(0x2D)
        let digits = rest.prefix(while: ASCII.isDigit)
        guard !digits.isEmpty, digits.count <= 15 else { return nil }
        rest = rest[digits.endIndex...]
        guard take(0x2E) else { return isNegative ? .other : .integer(String(Substring(digits))) }
        let fraction = rest.prefix(while: ASCII.isDigit)
        guard digits.count <= 12, (1...3).contains(fraction.count) else { return nil }
        rest = rest[fraction.endIndex...]
        return .other
    }

    /// Printable ASCII, where only the quote and the backslash are escaped.
    private mutating func structuredString() -> String? {
        guard take(0x22) else { return nil }
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case 0x22: return String(decoding: bytes, as: UTF8.self)
            case 0x5C:
                guard let escaped = rest.popFirst(), escaped == 0x22 || escaped == 0x5C else { return nil }
                bytes.append(escaped)
            case 0x20...0x7E: bytes.append(byte)
            default: return nil
            }
        }
        return nil
    }
}
