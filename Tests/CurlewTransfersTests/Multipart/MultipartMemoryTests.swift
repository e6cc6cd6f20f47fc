// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewTransfers
import Foundation
import TestServers
import Testing

/// A form with a large file. `CURLEW_MULTIPART_BYTES` makes it larger than in a usual run, and measures the memory of
/// the process, for which no other test may run.
@Suite(.timeLimit(.minutes(1)))
struct MultipartMemoryTests {
    @Test("a large file is sent in chunks of 64 KiB, the first of them at once")
    func chunks() async throws {
        let wanted = ProcessInfo.processInfo.environment["CURLEW_MULTIPART_BYTES"].flatMap { Int64($0) }
        let size = wanted ?? 64 << 20
        let folder = try TemporaryFolder()
        let path = try folder.file("large.bin", "")
        let file = try #require(FileHandle(forWritingAtPath: path))
        try file.truncate(atOffset: UInt64(size))
        try file.close()

        let before = Self.residentBytes
        var most = before
        let start = ContinuousClock.now
        let stream = RequestContent.stream(length: 5, replay: .always) {
            RequestBody.Chunks(
                AsyncStream {
                    $0.yield(Data("hello".utf8)); $0.finish()
                })
        }
        let body = try MultipartForm([.field("a", "1"), .part("s", stream), .file("large", path: path)]).body()
        var chunks = try body.chunks().makeAsyncIterator()
        var (count, number) = (Int64(0), 0)
        var first = Duration.zero
        while let chunk = try await chunks.next() {
            #expect(chunk.count <= 64 << 10)
            if number == 0 { first = ContinuousClock.now - start }
            count += Int64(chunk.count)
            number += 1
            if number % 256 == 0 { most = max(most, Self.residentBytes) }
        }
        #expect(count == body.length)
        #expect(count > size)
        guard wanted != nil else { return }
        let time = ContinuousClock.now - start
        print("multipart: \(size) bytes in \(time), first chunk after \(first), memory +\((most - before) >> 10) KiB")
        #expect(first < .milliseconds(50))
        #expect(most - before <= 24 << 20)
    }

    /// The memory of the process, 0 where the system does not tell it in a file.
    private static var residentBytes: Int {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return 0 }
        return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4096
    }
}
