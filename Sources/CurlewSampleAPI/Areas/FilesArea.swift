// SPDX-License-Identifier: MIT

import CurlewHTTP
import CurlewTesting

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Downloads of any name and size. They are generated while they are sent, and never held in memory.
struct FilesArea {
    private static let sizes = 0...(64 * 1024 * 1024)

    func add(to routes: inout SampleRoutes) {
        routes.on(.get, "/files/:name", download)
    }

    /// `bytes` is the size (default 1 MiB); `chunked=true` omits the length.
    private func download(_ request: RecordedRequest) throws -> MockResponse {
        let name = request.parameters["name"] ?? ""
        guard Self.isPlain(name) else {
            throw Refusal(.badRequest, "A name must consist of letters, digits, dots and dashes.", code: "bad_name")
        }
        let bytes = try request.number("bytes", from: Self.sizes, orElse: 1024 * 1024)
        let response = MockResponse.generated(bytes: bytes, chunked: request.query("chunked") == "true")
        return response.with(headers: [
            .contentDisposition: "attachment; filename=\"\(name)\"",
            "X-Checksum-CRC32": Self.checksum(ofPattern: bytes),
        ])
    }

    private static func isPlain(_ name: String) -> Bool {
        name.utf8.count <= 100
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"):
                    true
                default: ".-_".utf8.contains(byte)
                }
            }
    }

    /// The checksum is sent before the content, so it is calculated from the pattern, which repeats.
    private static func checksum(ofPattern bytes: Int) -> String {
        let block = Array(MockResponse.pattern(0..<251 * 64))
        var checksum = CRC32()
        for start in stride(from: 0, to: bytes, by: block.count) { checksum.update(block.prefix(bytes - start)) }
        return checksum.hexadecimal
    }
}
