// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Arranges the parts of a form as pieces of known length: byte runs, and file ranges between them.
struct MultipartWriter {
    let boundary: String
    private var pieces: [RequestBody.Part] = []
    /// The bytes since the last file.
    private var text = Data()

    init(boundary: String) {
        self.boundary = boundary
    }

    mutating func append(_ part: MultipartForm.Part) throws(NetworkError) {
        text.append(contentsOf: head(of: part).utf8)
        switch part.source {
        case .bytes(let data):
            text.append(data)
        case .file(let path):
            let length = try Self.length(ofFile: path)
            flush()
            if length > 0 { pieces.append(.file(path: path, offset: 0, length: length)) }
        case .refused(let problem):
            throw problem
        }
        text.append(contentsOf: "\r\n".utf8)
    }

    mutating func finished() -> RequestBody {
        text.append(contentsOf: "--\(boundary)--\r\n".utf8)
        flush()
        return .parts(pieces)
    }

    private mutating func flush() {
        if !text.isEmpty { pieces.append(.bytes(text)) }
        text = Data()
    }

    private func head(of part: MultipartForm.Part) -> String {
        var head = "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(Self.escaped(part.name))\""
        if let fileName = part.fileName { head += "; filename=\"\(Self.escaped(fileName))\"" }
        if let type = part.mediaType { head += "\r\nContent-Type: \(Self.oneLine(type.description))" }
        return head + "\r\n\r\n"
    }

    /// Escapes names as browsers do (WHATWG HTML §4.10.21.8): UTF-8, with quotes and line breaks percent-encoded. Also
    /// encodes the other control characters, which end a name for some receivers, and a backslash, which some receivers
    /// treat as an escape for the following quote.
    static func escaped(_ name: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in name.utf8 {
            if byte < 0x20 || byte == 0x7F || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Removes control characters from a custom media type, so that it cannot start a new header line.
    private static func oneLine(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }))
    }

    private static func length(ofFile path: String) throws(NetworkError) -> Int64 {
        var facts = stat()
        guard stat(path, &facts) == 0, access(path, R_OK) == 0 else {
            let reason = String(cString: strerror(errno))
            throw NetworkError(.invalidRequest, detail: "The file \(path) cannot be sent: \(reason).")
        }
        guard facts.st_mode & S_IFMT == S_IFREG else {
            throw NetworkError(.invalidRequest, detail: "The file \(path) cannot be sent: it is not a regular file.")
        }
        return Int64(facts.st_size)
    }
}
