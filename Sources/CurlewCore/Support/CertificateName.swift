// SPDX-License-Identifier: MIT

import CurlewFoundation
import CurlewHTTP

/// Reads the names and dates in a certificate. The issuer of the certificate can write anything there, so strings are
/// limited in length and control characters are escaped.
enum CertificateName {
    /// Returns a distinguished name in the form of RFC 4514, the most specific part first:
    /// `CN=api.example.com,O=Example`. An attribute type without a short name is written as its numeric identifier, and
    /// a value that is not text in hexadecimal. At most 32 parts with 8 attributes each are read.
    static func text(ofName name: Data, limit: Int) -> String {
        var parts: [String] = []
        var reader = DERReader(name)
        while parts.count < 32, let part = reader.next(DERTag.set) {
            var attributes = part.values
            var texts: [String] = []
            while texts.count < 8, let attribute = attributes.next(DERTag.sequence) {
                var fields = attribute.values
                guard let type = fields.next(DERTag.identifier), let value = fields.next() else { continue }
                texts.append("\(label(of: type.content))=\(valueText(value, limit: limit))")
            }
            parts.append(texts.joined(separator: "+"))
        }
        return shown(parts.reversed().joined(separator: ","), limit: limit)
    }

    /// Returns `text` truncated to `limit` Unicode scalars and escaped for a log line.
    static func shown(_ text: String, limit: Int) -> String {
        // The limit counts scalars, because one `Character` can have any number of scalars.
        let scalars = text.unicodeScalars
        guard let end = scalars.index(scalars.startIndex, offsetBy: limit, limitedBy: scalars.endIndex),
            end != scalars.endIndex
        else { return text.printable }
        return String(scalars[..<end]).printable + "…"
    }

    /// Returns the first `count` DNS names and IP addresses of the subject (RFC 5280 §4.2.1.6).
    static func subjectNames(in fields: CertificateFields, count: Int, limit: Int) -> [String] {
        guard var names = subjectAlternativeName(in: fields) else { return [] }
        var texts: [String] = []
        while texts.count < count, let name = names.next() {
            switch name.tag {
            case 0x82: texts.append(shown(escaped(String(decoding: name.content, as: UTF8.self)), limit: limit))
            case 0x87:
                if let address = IPAddress(bytes: name.content) {
                    texts.append(address.description)
                }
            default: break
            }
        }
        return texts
    }

    /// Parses a `UTCTime` or `GeneralizedTime`. Returns nil for any form that RFC 5280 §4.1.2.5 does not allow.
    static func date(_ value: DERReader.Value) -> Date? {
        var digits = Array(value.content)
        guard digits.popLast() == UInt8(ascii: "Z"), digits.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        switch (value.tag, digits.count) {
        case (DERTag.utcTime, 12): digits.insert(contentsOf: digits[0] >= 0x35 ? "19".utf8 : "20".utf8, at: 0)
        case (DERTag.generalizedTime, 14): break
        default: return nil
        }
        func number(_ range: Range<Int>) -> Int { digits[range].reduce(0) { $0 * 10 + Int($1) - 0x30 } }
        return HTTPDate(
            year: number(0..<4), month: number(4..<6), day: number(6..<8), hour: number(8..<10),
            minute: number(10..<12), second: number(12..<14))?.date
    }

    private static func subjectAlternativeName(in fields: CertificateFields) -> DERReader? {
        var remainder = fields.remainder
        while let field = remainder.next() {
            guard field.tag == 0xA3 else { continue }
            var wrapped = field.values
            guard var extensions = wrapped.next(DERTag.sequence)?.values else { return nil }
            while let item = extensions.next(DERTag.sequence) {
                var parts = item.values
                guard parts.next(DERTag.identifier)?.content.elementsEqual([0x55, 0x1D, 0x11]) == true else { continue }
                // The critical flag may precede the value.
                while let part = parts.next() {
                    guard part.tag == DERTag.octets else { continue }
                    var value = part.values
                    return value.next(DERTag.sequence)?.values
                }
            }
        }
        return nil
    }

    /// Returns the short name of an attribute type (RFC 4514 §3), or its numeric identifier if it has no short name.
    private static func label(of type: Data) -> String {
        if type.count == 3, type.starts(with: [0x55, 0x04]), let last = type.last, let name = shortNames[last] {
            return name
        }
        if type.elementsEqual([0x09, 0x92, 0x26, 0x89, 0x93, 0xF2, 0x2C, 0x64, 0x01, 0x19]) { return "DC" }
        if type.elementsEqual([0x09, 0x92, 0x26, 0x89, 0x93, 0xF2, 0x2C, 0x64, 0x01, 0x01]) { return "UID" }
        var numbers: [UInt32] = []
        var number: UInt32 = 0
        for byte in type.prefix(32) {
            guard number < 1 << 24 else { return "?" }
            number = number << 7 | UInt32(byte & 0x7F)
            guard byte < 0x80 else { continue }
            if numbers.isEmpty {
                let root = min(number / 40, 2)
                numbers = [root, number - root * 40]
            } else {
                numbers.append(number)
            }
            number = 0
        }
        return numbers.isEmpty ? "?" : numbers.map(String.init).joined(separator: ".")
    }

    private static let shortNames: [UInt8: String] = [3: "CN", 6: "C", 7: "L", 8: "ST", 9: "STREET", 10: "O", 11: "OU"]

    private static func valueText(_ value: DERReader.Value, limit: Int) -> String {
        // Strings in UTF-8 and ASCII. RFC 5280 §4.1.2.4 allows no other encoding in new names.
        guard [0x0C, 0x12, 0x13, 0x16].contains(value.tag) else {
            return "#" + Data(value.whole.prefix(limit)).hexText
        }
        return escaped(String(decoding: value.content.prefix(limit * 4 + 4), as: UTF8.self))
    }

    /// Puts a backslash before the characters that structure a name (RFC 4514 §2.4), so that one value cannot look like
    /// two attributes.
    private static func escaped(_ text: String) -> String {
        let scalars = text.unicodeScalars
        var result = String.UnicodeScalarView()
        for (index, scalar) in scalars.enumerated() {
            let isEdge = index == 0 || index == scalars.count - 1
            switch scalar {
            case "\"", "+", ",", ";", "<", ">", "\\", "=": result.append("\\")
            case " " where isEdge: result.append("\\")
            case "#" where index == 0: result.append("\\")
            default: break
            }
            result.append(scalar)
        }
        return String(result)
    }
}
