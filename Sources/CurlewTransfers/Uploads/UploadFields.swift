// SPDX-License-Identifier: MIT

import CurlewHTTP

/// Reads the values of upload fields. A value that is not valid is ignored, as if the field were missing.
enum UploadFields {
    /// Returns a non-negative integer of at most 15 digits, without parameters (RFC 9651 §3.3.1).
    static func integer(_ value: String?) -> Int64? {
        guard let text = value?.upTo(";").trimmed(), (1...15).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        return Int64(text)
    }

    /// Returns a Boolean, `?1` or `?0` (RFC 9651 §3.3.6).
    static func boolean(_ value: String?) -> Bool? {
        guard let text = value?.upTo(";").trimmed() else { return nil }
        return text.utf8.elementsEqual("?1".utf8) ? true : text.utf8.elementsEqual("?0".utf8) ? false : nil
    }

    /// Returns the elements of a comma-separated list, in lower case, at most 100.
    static func list(_ value: String?) -> [String] {
        (value ?? "").parts(",", most: 100).map { $0.trimmed().lowercased() }.filter { !$0.isEmpty }
    }

    /// Returns the members of `Upload-Limit` (a dictionary of RFC 9651 §3.2). Unknown members are ignored; the last of
    /// equal keys counts. Returns none if a known member is not a non-negative integer: the draft then ignores the field.
    static func limits(_ value: String?) -> [String: Int64] {
        let known = ["max-size", "min-size", "max-append-size", "min-append-size", "max-age"]
        var members: [String: Int64] = [:]
        for member in unquoted(value ?? "").parts(",", most: 100) {
            let pair = member.upTo(";").parts("=", most: 2)
            let key = String((pair.first ?? "").trimmed())
            guard known.contains(key) else { continue }
            guard pair.count == 2, let number = integer(String(pair[1])) else { return [:] }
            members[key] = number
        }
        return members
    }

    /// Returns the text without its quoted strings, whose content may contain separators.
    private static func unquoted(_ text: String) -> String {
        var (isQuoted, isEscaped) = (false, false)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if isEscaped {
                isEscaped = false
            } else if isQuoted, byte == 0x5C {
                isEscaped = true
            } else if byte == 0x22 {
                isQuoted.toggle()
            } else if !isQuoted {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
