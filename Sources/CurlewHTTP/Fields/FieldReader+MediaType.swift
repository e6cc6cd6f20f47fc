// SPDX-License-Identifier: MIT

extension FieldReader {
    /// Reads the type and the subtype of a media type, which must end at a semicolon or at the end of the value.
    mutating func essence() -> (type: String, subtype: String)? {
        skipBlanks()
        guard let type = token(), take(0x2F), let subtype = token() else { return nil }
        skipBlanks()
        guard remainder.isEmpty || remainder.first == 0x3B else { return nil }
        return (type, subtype)
    }

    /// Reads the parameters of a media type: `*( OWS ";" OWS [ parameter ] )`. Malformed parameters are skipped.
    mutating func parameters() -> [MediaType.Parameter] {
        var found: [MediaType.Parameter] = []
        while skipToSemicolon() {
            skipBlanks()
            guard let name = token(), take(0x3D), let value = token() ?? quotedString() else { continue }
            skipBlanks()
            guard remainder.isEmpty || remainder.first == 0x3B else { continue }
            found.append(MediaType.Parameter(name: name, value: value))
        }
        return found
    }
}
