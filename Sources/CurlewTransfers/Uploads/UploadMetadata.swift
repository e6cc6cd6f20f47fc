// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// The properties of the source that the server receives.
struct UploadMetadata: Codable, Hashable, Sendable {
    var fileName: String?
    var mediaType: String?
    var others: [String: String]

    init(_ options: Upload.Options, path: String?) throws(NetworkError) {
        let name = options.fileName ?? path.flatMap { $0.parts("/").last.map(String.init) }
        fileName = name
        mediaType = name.map { MediaType(fileName: $0).description }
        others = options.metadata
        for key in others.keys where !Self.isValid(key) {
            throw NetworkError(
                .invalidRequest, detail: "The name \"\(key.printable)\" of upload metadata is invalid.",
                hint: "Use ASCII without spaces and commas, at least one character.")
        }
    }

    /// The value of `Upload-Metadata`: names with values in Base64. `filename` and `filetype` are what most servers
    /// expect. Nil without metadata.
    var field: String? {
        var pairs: [(String, String)] = []
        if let fileName, others["filename"] == nil { pairs.append(("filename", fileName)) }
        if let mediaType, others["filetype"] == nil { pairs.append(("filetype", mediaType)) }
        pairs += others.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        guard !pairs.isEmpty else { return nil }
        return pairs.map { name, value in
            value.isEmpty ? name : name + " " + Data(value.utf8).base64EncodedString()
        }.joined(separator: ",")
    }

    private static func isValid(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.allSatisfy { (0x21..<0x7F).contains($0) && $0 != UInt8(ascii: ",") }
    }
}
