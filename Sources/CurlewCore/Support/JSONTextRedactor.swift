// SPDX-License-Identifier: MIT

/// Replaces the values of secret members in JSON text, without needing the text to be complete or valid.
///
/// A log or an error excerpt is often cut off in the middle, where a JSON parser would give up and show everything.
/// One pass over the bytes: a quoted name that is secret and followed by a colon has its value replaced, whatever the
/// value is (a string up to its end, a container up to its closing bracket, a scalar up to the next separator). Other
/// strings keep their text, except that URLs in them lose their secrets.
struct JSONTextRedactor {
    var redaction: Redaction

    func redact(_ text: String) -> String {
        let bytes = Array(text.utf8)
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            guard bytes[index] == Self.quote else {
                output.append(bytes[index])
                index += 1
                continue
            }
            let end = endOfString(bytes, from: index)
            let string = bytes[index..<end]
            index = end
            var value = skipSpace(bytes, from: end)
            guard value < bytes.count, bytes[value] == UInt8(ascii: ":"), redaction.isSecret(member: name(string))
            else {
                output.append(contentsOf: redactURL(string))
                continue
            }
            value = skipSpace(bytes, from: value + 1)
            output.append(contentsOf: string)
            output.append(contentsOf: bytes[end..<value])
            output.append(contentsOf: "\"\(Redaction.mark)\"".utf8)
            index = endOfValue(bytes, from: value)
        }
        return String(decoding: output, as: UTF8.self)
    }

    private static let quote = UInt8(ascii: "\"")
    private static let backslash = UInt8(ascii: "\\")

    /// The name between the quotes, with `\u0070` and the like read as what they mean.
    private func name(_ string: ArraySlice<UInt8>) -> String {
        let inner = string.dropFirst().dropLast()
        guard inner.contains(Self.backslash) else { return String(decoding: inner, as: UTF8.self) }
        var name = ""
        var rest = inner
        while let byte = rest.first {
            if byte == Self.backslash, rest.dropFirst().first == UInt8(ascii: "u"), rest.count >= 6 {
                let digits = String(decoding: rest.dropFirst(2).prefix(4), as: UTF8.self)
                if let scalar = UInt32(digits, radix: 16).flatMap(Unicode.Scalar.init) {
                    name.unicodeScalars.append(scalar)
                }
                rest = rest.dropFirst(6)
            } else {
                if byte != Self.backslash { name.unicodeScalars.append(Unicode.Scalar(byte)) }
                rest = rest.dropFirst()
            }
        }
        return name
    }

    /// The string as it is, or with the secrets of a URL in it replaced. Some encoders write `&` as `\u0026`.
    private func redactURL(_ string: ArraySlice<UInt8>) -> [UInt8] {
        let looksLikeURL = string.contains { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: "@") }
        guard looksLikeURL, string.count > 1 else { return Array(string) }
        let isClosed = string.last == Self.quote
        let inner = String(decoding: isClosed ? string.dropFirst().dropLast() : string.dropFirst(), as: UTF8.self)
        guard inner.utf8.contains(where: { "?#&".utf8.contains($0) }) || inner.utf8.firstRange(of: "://".utf8) != nil
        else { return Array(string) }
        let plain = String(decoding: Array(inner.utf8).replacing(Array("\\u0026".utf8), with: "&".utf8), as: UTF8.self)
        let shown = redaction.withoutSecrets(plain[...])
        return [Self.quote] + Array(shown.utf8) + (isClosed ? [Self.quote] : [])
    }

    private func skipSpace(_ bytes: [UInt8], from start: Int) -> Int {
        var index = start
        while index < bytes.count, bytes[index] == 0x20 || (bytes[index] >= 0x09 && bytes[index] <= 0x0D) { index += 1 }
        return index
    }

    /// The index after the closing quote of the string that opens at `start`, or the end of the text.
    private func endOfString(_ bytes: [UInt8], from start: Int) -> Int {
        var index = start + 1
        while index < bytes.count {
            switch bytes[index] {
            case Self.backslash: index += 2
            case Self.quote: return index + 1
            default: index += 1
            }
        }
        return bytes.count
    }

    private func endOfValue(_ bytes: [UInt8], from start: Int) -> Int {
        guard start < bytes.count else { return start }
        if bytes[start] == Self.quote { return endOfString(bytes, from: start) }
        var depth = 0
        var index = start
        while index < bytes.count {
            switch bytes[index] {
            case Self.quote:
                index = endOfString(bytes, from: index)
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth <= 1 { return depth == 1 ? index + 1 : index }
                depth -= 1
            case UInt8(ascii: ","):
                if depth == 0 { return index }
            default:
                break
            }
            index += 1
        }
        return bytes.count
    }
}
