// SPDX-License-Identifier: MIT

/// Replaces the values of secret members in JSON text, without needing the text to be complete or valid.
///
/// A log or an error excerpt is often cut off in the middle, where a JSON parser would give up and show everything.
/// One pass over the bytes: a quoted name that is secret and followed by a colon has its value replaced, whatever the
/// value is (a string up to its end, a container up to its closing bracket, a scalar up to the next separator).
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
            output.append(contentsOf: bytes[index..<end])
            let name = String(decoding: bytes[min(index + 1, end)..<max(index + 1, end - 1)], as: UTF8.self)
            index = end
            var value = skipSpace(bytes, from: end)
            guard value < bytes.count, bytes[value] == UInt8(ascii: ":"), redaction.isSecret(member: name) else {
                continue
            }
            value = skipSpace(bytes, from: value + 1)
            output.append(contentsOf: bytes[end..<value])
            output.append(contentsOf: "\"\(Redaction.mark)\"".utf8)
            index = endOfValue(bytes, from: value)
        }
        return String(decoding: output, as: UTF8.self)
    }

    private static let quote = UInt8(ascii: "\"")

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
            case UInt8(ascii: "\\"): index += 2
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
