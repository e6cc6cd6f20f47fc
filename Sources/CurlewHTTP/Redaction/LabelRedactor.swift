// SPDX-License-Identifier: MIT

/// Replaces the value after a secret name and a colon outside of JSON: arguments of GraphQL, fields of a message, lines
/// of a log. Also replaces the credential after `Bearer`, `Basic` and `DPoP`.
///
/// The text may be truncated. A value in quotes or brackets extends to the closing quote or bracket, the value of
/// `Authorization`, `Cookie` and similar fields to the end of the line, any other value to the next space or separator.
struct LabelRedactor {
    let redaction: Redaction

    func redact(_ text: String) -> String {
        let bytes = Array(text.utf8)
        guard bytes.contains(where: { $0 == UInt8(ascii: ":") || $0 == 0x20 }) else { return text }
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            if byte == UInt8(ascii: ":"), let end = endOfSecret(bytes, at: index) {
                let value = JSONTextRedactor.skipSpace(bytes, from: index + 1)
                output.append(contentsOf: bytes[index..<value])
                output.append(contentsOf: Redaction.mark.utf8)
                index = end
            } else if byte == 0x20, let end = endOfCredential(bytes, at: index) {
                output.append(contentsOf: " \(Redaction.mark)".utf8)
                index = end
            } else {
                output.append(byte)
                index += 1
            }
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// Returns the end of the value after the colon; nil if the name before the colon is not secret.
    private func endOfSecret(_ bytes: [UInt8], at colon: Int) -> Int? {
        guard let name = name(bytes, before: colon) else { return nil }
        let field = HTTPField.Name(name)
        let isField = redaction.headerNames.contains(field) && !redaction.memberNames.contains(SecretName.plain(name))
        guard isField || redaction.isSecret(member: name) else { return nil }
        let start = JSONTextRedactor.skipSpace(bytes, from: colon + 1)
        guard start < bytes.count else { return nil }
        // A colon and two slashes belong to a URL. A value that was already replaced is kept.
        if bytes[(colon + 1)...].starts(with: "//".utf8) || bytes[start...].starts(with: Redaction.mark.utf8) {
            return nil
        }
        if bytes[start...].starts(with: "\"\(Redaction.mark)\"".utf8) { return nil }
        switch bytes[start] {
        case UInt8(ascii: "\""), UInt8(ascii: "{"), UInt8(ascii: "["):
            return JSONTextRedactor.endOfValue(bytes, from: start)
        case UInt8(ascii: "'"):
            return bytes[(start + 1)...].firstIndex(of: UInt8(ascii: "'")).map { $0 + 1 } ?? bytes.count
        default:
            if Self.wholeLine.contains(SecretName.plain(name)) {
                return bytes[start...].firstIndex(where: Self.isBreak) ?? bytes.count
            }
            return bytes[start...].firstIndex(where: Self.isEnd) ?? bytes.count
        }
    }

    /// The names whose values may contain spaces and extend to the end of the line.
    private static let wholeLine: Set<String> = [
        "authorization", "proxyauthorization", "cookie", "setcookie", "authenticationinfo", "credentials",
    ]

    private static func isBreak(_ byte: UInt8) -> Bool { byte == 0x0A || byte == 0x0D }

    private static func isEnd(_ byte: UInt8) -> Bool { byte <= 0x20 || ",;&)}]<\"".utf8.contains(byte) }

    /// Returns the name that ends before the colon, with or without quotes.
    private func name(_ bytes: [UInt8], before colon: Int) -> String? {
        var end = colon
        while end > 0, bytes[end - 1] == 0x20 || bytes[end - 1] == 0x09 { end -= 1 }
        if end > 0, bytes[end - 1] == UInt8(ascii: "'") { end -= 1 }
        var start = end
        while start > 0, end - start < 128, Self.isNameByte(bytes[start - 1]) { start -= 1 }
        return start == end ? nil : String(decoding: bytes[start..<end], as: UTF8.self)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 < 10 || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
            || byte == UInt8(ascii: ".")
    }

    /// Returns the end of the credential that follows an authentication scheme and this space; nil if there is none.
    private func endOfCredential(_ bytes: [UInt8], at space: Int) -> Int? {
        let before = bytes[..<space]
        let scheme = ["bearer", "basic", "dpop"].first { scheme in
            before.count >= scheme.utf8.count
                && before.suffix(scheme.utf8.count).map({ $0 | 0x20 }).elementsEqual(scheme.utf8)
        }
        guard let scheme, redaction.isSecret(header: .authorization) else { return nil }
        let begin = space - scheme.utf8.count
        guard begin == 0 || !Self.isNameByte(bytes[begin - 1]) else { return nil }
        let end = bytes[(space + 1)...].firstIndex { !Self.isCredentialByte($0) } ?? bytes.count
        let word = bytes[(space + 1)..<end]
        // In prose, a short word follows the name of the scheme: "the bearer token", "basic access".
        let isProse = word.allSatisfy { ($0 | 0x20) &- 0x61 < 26 || $0 == UInt8(ascii: ".") } && word.count < 20
        return word.isEmpty || isProse || word.starts(with: Redaction.mark.utf8) ? nil : end
    }

    /// Returns whether the byte can be part of a `token68` credential (RFC 9110 §11.2).
    private static func isCredentialByte(_ byte: UInt8) -> Bool {
        isNameByte(byte) || "~+/=".utf8.contains(byte)
    }
}
