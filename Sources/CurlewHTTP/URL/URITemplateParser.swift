// SPDX-License-Identifier: MIT

/// Parses the text of a URI template by bytes (RFC 6570 §2).
struct URITemplateParser {
    private let bytes: [UInt8]
    private var index = 0

    init(_ text: String) {
        bytes = Array(text.utf8)
    }

    mutating func parts() throws(URITemplate.SyntaxError) -> [URITemplate.Part] {
        guard bytes.count <= URITemplate.mostBytes else {
            throw problem("The template is longer than \(URITemplate.mostBytes) bytes", at: URITemplate.mostBytes)
        }
        var parts: [URITemplate.Part] = []
        while index < bytes.count {
            if bytes[index] == 0x7B {
                parts.append(.expression(try expression()))
            } else {
                parts.append(.literal(try literal()))
            }
        }
        return parts
    }

    /// Reads text up to the next brace, and encodes what a URI cannot contain.
    private mutating func literal() throws(URITemplate.SyntaxError) -> String {
        let start = index
        while index < bytes.count, bytes[index] != 0x7B {
            let byte = bytes[index]
            switch byte {
            case 0x7D: throw problem("A closing brace has no opening brace", at: index)
            case 0x25:
                guard isTriplet(index) else {
                    throw problem("A percent sign in the text is not followed by two hex digits", at: index)
                }
            case 0...0x20, 0x7F: throw problem("The text contains a space or a control character", at: index)
            // `'` is absent from the grammar of the RFC and was added by its erratum 6937.
            case 0x22, 0x3C, 0x3E, 0x5C, 0x5E, 0x60, 0x7C:
                throw problem("The text contains a character that a URI cannot contain", at: index)
            case 0xC2 where index + 1 < bytes.count && bytes[index + 1] < 0xA0:
                throw problem("The text contains a space or a control character", at: index)
            default: break
            }
            index += 1
        }
        let text = String(decoding: bytes[start..<index], as: UTF8.self)
        return PercentCoding.encode(text, keeping: URITemplate.literalBytes)
    }

    private mutating func expression() throws(URITemplate.SyntaxError) -> URITemplate.Expression {
        let start = index
        index += 1
        guard index < bytes.count else { throw problem("An opening brace has no closing brace", at: start) }
        var kind = URITemplate.Kind.simple
        if let found = URITemplate.Kind(rawValue: bytes[index]), found != .simple {
            kind = found
            index += 1
        } else if ByteSet("=,!@|").contains(bytes[index]) {
            throw problem("The operator is reserved for extensions", at: index)
        }
        var variables: [URITemplate.Variable] = []
        repeat {
            variables.append(try variable(in: start))
        } while take(0x2C)
        guard index < bytes.count else { throw problem("An opening brace has no closing brace", at: start) }
        guard take(0x7D) else {
            throw problem("A variable contains a character that its name cannot contain", at: index)
        }
        return URITemplate.Expression(kind: kind, variables: variables, position: start)
    }

    private mutating func variable(in brace: Int) throws(URITemplate.SyntaxError) -> URITemplate.Variable {
        let start = index
        while index < bytes.count {
            if Self.nameBytes.contains(bytes[index]) {
                index += 1
            } else if bytes[index] == 0x25 {
                guard isTriplet(index) else {
                    throw problem("A percent sign in a name is not followed by two hex digits", at: index)
                }
                index += 3
            } else if bytes[index] == 0x2E, index > start, bytes[index - 1] != 0x2E {
                index += 1
            } else {
                break
            }
        }
        guard index < bytes.count else { throw problem("An opening brace has no closing brace", at: brace) }
        guard index > start else { throw problem("A variable has no name, or an unknown operator", at: index) }
        guard bytes[index - 1] != 0x2E else { throw problem("A dot ends or repeats in a name", at: index - 1) }
        let name = String(decoding: bytes[start..<index], as: UTF8.self)
        if take(0x2A) { return URITemplate.Variable(name: name, isExploded: true) }
        guard take(0x3A) else { return URITemplate.Variable(name: name) }
        let digits = bytes[index...].prefix { ASCII.isDigit($0) }
        guard digits.count <= 4, digits.first != 0x30, let length = ASCII.decimal(digits) else {
            throw problem("The length of a prefix is not a number from 1 to 9999", at: index)
        }
        index += digits.count
        return URITemplate.Variable(name: name, prefix: length)
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard index < bytes.count, bytes[index] == byte else { return false }
        index += 1
        return true
    }

    private func isTriplet(_ position: Int) -> Bool {
        URITemplate.isTriplet(bytes[position...])
    }

    private func problem(_ message: String, at position: Int) -> URITemplate.SyntaxError {
        URITemplate.SyntaxError(message: message, position: position)
    }

    private static let nameBytes = ByteSet.alphanumerics.union("_")
}

extension URITemplate {
    /// The reserved and the unreserved characters (RFC 3986 §2.2 and §2.3).
    static let reservedBytes = ByteSet.unreserved.union(":/?#[]@!$&'()*+,;=")
    static let literalBytes = reservedBytes.union("%")

    /// Returns whether the bytes begin with a percent sign and two hex digits.
    static func isTriplet(_ bytes: ArraySlice<UInt8>) -> Bool {
        let start = bytes.startIndex
        return bytes.count > 2 && bytes[start] == 0x25 && ASCII.hexValue(bytes[start + 1]) != nil
            && ASCII.hexValue(bytes[start + 2]) != nil
    }
}
