// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The properties of the source that the server receives.
struct UploadMetadata: Codable, Hashable, Sendable {
    var fileName: String?
    var mediaType: String?
    var others: [String: String]

    init(_ options: Upload.Options, path: String?) throws(NetworkError) {
        let name = options.fileName ?? path.flatMap { $0.parts("/").last.map(String.init) }
        fileName = name
        mediaType = options.mediaType?.description ?? name.map { MediaType(fileName: $0).description }
        others = options.metadata
        for key in others.keys where !Self.isValid(key) {
            throw NetworkError(
                .invalidRequest, detail: "The name \"\(key.printable)\" of upload metadata is invalid.",
                hint: "Use ASCII without spaces and commas, at least one character.")
        }
    }

    /// The value of `Upload-Metadata`: names with values in Base64. `filename` and `filetype` are what most servers
    /// expect. Nil without metadata.
    var tusField: String? {
        var pairs: [(String, String)] = []
        if let fileName, others["filename"] == nil { pairs.append(("filename", fileName)) }
        if let mediaType, others["filetype"] == nil { pairs.append(("filetype", mediaType)) }
        pairs += others.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        guard !pairs.isEmpty else { return nil }
        return pairs.map { name, value in
            value.isEmpty ? name : name + " " + Data(value.utf8).base64EncodedString()
        }.joined(separator: ",")
    }

    /// The value of `Content-Disposition` (RFC 6266), with which the draft transmits a file name.
    var disposition: String? {
        guard let fileName else { return nil }
        let isPlain = fileName.utf8.allSatisfy { (0x20..<0x7F).contains($0) && $0 != 0x22 && $0 != 0x5C && $0 != 0x25 }
        if isPlain { return "inline; filename=\"\(fileName)\"" }
        return "inline; filename*=UTF-8''" + Self.encoded(fileName)
    }

    private static func isValid(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.allSatisfy { (0x21..<0x7F).contains($0) && $0 != UInt8(ascii: ",") }
    }

    /// Percent-encodes all but letters, digits, `-`, `.` and `_` (a part of `attr-char` of RFC 8187).
    private static func encoded(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: bytes.append(byte)
            default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
