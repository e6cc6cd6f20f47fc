// SPDX-License-Identifier: MIT

import CurlewTransfers
import TestServers
import Testing

/// A form with a large file.
@Suite(.timeLimit(.minutes(1)))
struct MultipartMemoryTests {
    @Test("A large file is sent in chunks of 64 KiB")
    func chunks() async throws {
        let size = Int64(64 << 20)
        let folder = try TemporaryFolder()
        let path = try folder.file("large.bin", "")
        let file = try #require(FileHandle(forWritingAtPath: path))
        try file.truncate(atOffset: UInt64(size))
        try file.close()

        let stream = RequestContent.stream(length: 5, replay: .always) {
            RequestBody.Chunks(
                AsyncStream {
                    $0.yield(Data("hello".utf8)); $0.finish()
                })
        }
        let body = try MultipartForm([.field("a", "1"), .part("s", stream), .file("large", path: path)]).body()
        var chunks = try body.chunks().makeAsyncIterator()
        var count = Int64(0)
        while let chunk = try await chunks.next() {
            #expect(chunk.count <= 64 << 10)
            count += Int64(chunk.count)
        }
        #expect(count == body.length)
        #expect(count > size)
    }
}
