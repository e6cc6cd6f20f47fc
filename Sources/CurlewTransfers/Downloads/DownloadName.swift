// SPDX-License-Identifier: MIT

import CurlewHTTP

/// Makes file names for downloads out of text that a server chose.
enum DownloadName {
    /// Returns a name for the file of a response: one path component that is safe in every folder, never empty.
    ///
    /// The name comes from `Content-Disposition`, otherwise from the last component of the URL's path, otherwise it is
    /// `download` with an extension for the media type. Of each source:
    ///
    /// - only the part after the last `/` or `\` counts;
    /// - control characters, text direction marks and all other invisible characters are removed, and each run of white
    ///   space and line separators becomes one space;
    /// - `< > : " | ? *`, which some file systems reserve, become `_`;
    /// - dots and spaces at both ends are removed, so that no name is hidden or means a folder;
    /// - a name that Windows reserves for a device, such as `CON.txt`, gets a `_` in front;
    /// - more than 255 bytes of UTF-8 are cut between scalars, and an extension of up to 32 bytes stays;
    /// - the last dot of an ending of this package's own files, such as `film.part`, becomes `_`: otherwise a later
    ///   transfer would take the file for its own.
    ///
    /// The extension is the server's choice: a name can still be that of a program.
    static func downloadName(disposition: String?, url: String, mediaType: MediaType?) -> String {
        if let text = disposition.flatMap({ ContentDisposition($0)?.fileName }), let name = safe(text) { return name }
        if let text = lastComponent(of: url), let name = safe(text) { return name }
        return "download" + (mediaType?.fileExtension.map { "." + $0 } ?? "")
    }

    static let maximumBytes = 255
    static let maximumExtensionBytes = 32

    private static func lastComponent(of url: String) -> String? {
        guard let parts = try? URLParts(url), let last = parts.target.upTo("?").parts("/", keepingEmpty: true).last
        else { return nil }
        return PercentCoding.decode(String(last)) ?? String(last)
    }

    /// Returns the safe form of a name; nil if nothing remains.
    static func safe(_ text: String) -> String? {
        let component = text.utf8.split { $0 == 0x2F || $0 == 0x5C }.last.map { String(Substring($0)) } ?? ""
        var scalars = String.UnicodeScalarView()
        for scalar in component.unicodeScalars {
            guard let kept = replacement(of: scalar), kept != " " || scalars.last != " " else { continue }
            scalars.append(kept)
        }
        let name = String(String(scalars).trimmed(isEdge))
        guard !name.isEmpty else { return nil }
        return withoutOwnEnding(shortened(isDevice(name) ? "_" + name : name))
    }

    /// The endings of partial downloads and of descriptors of uploads, and those of the files beside them.
    private static let ownEndings = [".part", ".curlew-upload"].flatMap { ending in
        ["", ".state", ".lock", ".new"].map { ending + $0 }
    }

    private static func withoutOwnEnding(_ name: String) -> String {
        // File systems that ignore case fold it as a conversion to upper case does: `ſ` is an `s`.
        let folded = ASCII.lowercased(name.uppercased())
        guard ownEndings.contains(where: { folded.ends(with: $0) }),
            let dot = name.last(".")
        else { return name }
        return name[..<dot] + "_" + name[name.utf8.index(after: dot)...]
    }

    /// Spaces and dots, which Windows drops at the end; at the start a dot hides a file.
    private static func isEdge(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x2E }

    private static func replacement(of scalar: Unicode.Scalar) -> Unicode.Scalar? {
        if scalar.value < 0x7F, scalar.value >= 0x20 {
            return "<>:\"|?*".unicodeScalars.contains(scalar) ? "_" : scalar
        }
        let properties = scalar.properties
        if properties.isWhitespace { return " " }
        if properties.isDefaultIgnorableCodePoint || properties.isNoncharacterCodePoint { return nil }
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: return nil
        default: return scalar
        }
    }

    /// Returns whether Windows treats the name as a device: it compares only the part before the first dot.
    private static func isDevice(_ name: String) -> Bool {
        let stem = ASCII.lowercased(String(name.upTo(".").trimmed()))
        if devices.contains(stem) { return true }
        let scalars = stem.unicodeScalars
        guard scalars.count == 4, stem.begins(with: "com") || stem.begins(with: "lpt"), let last = scalars.last
        else { return false }
        return "0123456789¹²³".unicodeScalars.contains(last)
    }

    private static let devices = ["con", "prn", "aux", "nul", "conin$", "conout$", "clock$"]

    private static func shortened(_ name: String) -> String {
        guard name.utf8.count > maximumBytes else { return name }
        let ending = name.last(".").map { name[$0...] } ?? ""
        let kept = ending.utf8.count <= maximumExtensionBytes ? ending : ""
        var length = 0
        let stem = name.unicodeScalars.prefix { scalar in
            length += UTF8.width(scalar)
            return length <= maximumBytes - kept.utf8.count
        }
        return String(String(stem).trimmed(isEdge)) + kept
    }
}

/// The file name in a `Content-Disposition` field of a response (RFC 6266).
///
/// Reads what browsers read: unquoted names with spaces, quoted names without an end, names without a type, and UTF-8
/// in plain names. The first of two parameters with one name counts. Encoded words (RFC 2047) and percent-encoding in a
/// plain `filename` are not decoded. The file name is text of the server, without any check: see ``DownloadName``.
struct ContentDisposition: Sendable {
    /// The file name: that of `filename*` if it can be decoded (RFC 8187), otherwise that of `filename`.
    let fileName: String

    /// Parses a field value. Returns nil if there is no file name.
    init?(_ value: String) {
        var reader = FieldReader(value)
        var plain: String?
        var extended: String?
        while !reader.isAtEnd {
            _ = reader.taking { $0 == 0x3B || ASCII.isBlank($0) }
            let name = ASCII.lowercased(String(reader.taking { $0 != 0x3B && $0 != 0x3D }.trimmed()))
            guard reader.take(0x3D) else { continue }
            let value = reader.lenientValue()
            switch name {
            case "filename": plain = plain ?? value
            case "filename*": extended = extended ?? Self.extended(value)
            default: break
            }
        }
        guard let name = extended ?? plain else { return nil }
        fileName = name
    }

    /// Decodes `UTF-8'language'text` (RFC 8187 §3.2); nil for another charset or bad text.
    private static func extended(_ value: String) -> String? {
        let parts = value.parts("'", maximum: 3, keepingEmpty: true)
        guard parts.count == 3, ASCII.lowercased(String(parts[0])) == "utf-8" else { return nil }
        return PercentCoding.decode(String(parts[2]))
    }
}

extension FieldReader {
    /// Reads a value up to the next semicolon. A quoted value ends at the closing quote or at the end of the field, and
    /// a backslash in it stands for the byte after it.
    fileprivate mutating func lenientValue() -> String {
        skipBlanks()
        guard take(0x22) else { return String(taking { $0 != 0x3B }.trimmed()) }
        var value: [UInt8] = []
        while let byte = remainder.popFirst(), byte != 0x22 {
            value.append(byte == 0x5C ? remainder.popFirst() ?? byte : byte)
        }
        _ = taking { $0 != 0x3B }
        return String(decoding: value, as: UTF8.self)
    }
}
