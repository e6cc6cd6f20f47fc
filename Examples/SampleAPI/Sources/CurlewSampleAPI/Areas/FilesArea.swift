// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting

/// The route for downloads of up to 64 MiB. The client chooses the name of the file. The content is generated while it
/// is sent, and is never completely in memory.
struct FilesArea {
    private static let sizes = 0...(64 * 1024 * 1024)

    func add(to routes: inout SampleRoutes) {
        routes.on(.get, "/files/:name", download)
    }

    /// Responds with a generated file. The query item `bytes` is its size in bytes (default 1 MiB); `chunked=true`
    /// sends it in chunks, without a Content-Length.
    private func download(_ request: RecordedRequest) throws -> MockResponse {
        let name = request.parameters["name"] ?? ""
        guard Self.isPlain(name) else {
            throw Refusal(
                .badRequest, "A name must consist of at most 100 letters, digits, dots, dashes and underscores.",
                code: "bad_name")
        }
        let bytes = try request.number("bytes", from: Self.sizes, orElse: 1024 * 1024)
        let response = MockResponse.generated(bytes: bytes, chunked: request.query["chunked"] == "true")
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

    /// Returns the CRC-32 of the first `bytes` bytes of the pattern. The head contains the checksum, so it is
    /// calculated before the content is generated.
    private static func checksum(ofPattern bytes: Int) -> String {
        let block = Array(MockResponse.pattern(0..<251 * 64))
        var checksum = CRC32()
        for start in stride(from: 0, to: bytes, by: block.count) { checksum.update(block.prefix(bytes - start)) }
        return checksum.hexadecimal
    }
}
