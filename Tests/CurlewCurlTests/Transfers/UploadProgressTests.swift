// SPDX-License-Identifier: MIT

import CurlewTransfers
import Testing

@testable import CurlewCore
@testable import CurlewCurl

/// The progress of uploads that libcurl reads directly from memory and files.
@Suite(.timeLimit(.minutes(1)))
struct UploadProgressTests {
    private final class Values: Sendable {
        private let values = Locked<[TransferProgress]>([])
        private let threads = Locked<Set<String>>([])

        var all: [TransferProgress] { values.withLock { $0 } }
        var threadNames: Set<String> { threads.withLock { $0 } }

        func add(_ value: TransferProgress) {
            values.withLock { $0.append(value) }
            let name = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
            threads.withLock { _ = $0.insert(name ?? "curlew: unknown") }
        }
    }

    @Test(
        "A file and bytes report their progress, whose last value arrives before the call returns",
        arguments: [true, false])
    func sizes(isFile: Bool) async throws {
        let server = try MockServer.always(.status(.noContent), to: .put)
        let folder = try TemporaryFolder()
        let size = 3_000_000
        let data = pattern(size)
        let path = folder.path + "/body"
        try data.write(to: URL(fileURLWithPath: path))
        let values = Values()
        let client = APIClient.curl(server.url)
        let content = isFile ? RequestContent.file(path, type: .octetStream) : .data(data)
        try await client.send(Request<Void>.put("/", body: content.reporting { values.add($0) }))
        let all = values.all
        #expect(server.requests.first?.body == data)
        #expect(server.requests.first?.headers[.contentLength] == "\(size)")
        #expect(all.first?.completed == 0 && all.first?.total == Int64(size))
        #expect(all.last?.completed == Int64(size) && all.last?.isLast == true)
        #expect(all.filter(\.isLast).count == 1)
        #expect(zip(all, all.dropFirst()).allSatisfy { $0.completed <= $1.completed })
        #expect(!values.threadNames.contains { $0.contains("curlew") }, "the app's code runs beside the event loop")
    }

    @Test("A repeated attempt counts its bytes once, and the total is reached once")
    func repeated() async throws {
        let server = try MockServer.answering(.status(.serviceUnavailable), .status(.noContent))
        let values = Values()
        let client = APIClient.curl(server.url, [.retry(RetryPolicy(backoff: .constant(.milliseconds(1))))])
        let content = RequestContent.data(pattern(700_000)).reporting { values.add($0) }
        try await client.send(Request<Void>.put("/", body: content))
        #expect(server.requestCount == 2)
        let all = values.all
        #expect(all.last?.completed == 700_000 && all.last?.isLast == true && all.filter(\.isLast).count == 1)
        #expect(zip(all, all.dropFirst()).allSatisfy { $0.completed <= $1.completed })
    }

    @Test("A call that fails before its body is sent reports only the last value at its end")
    func refused() async throws {
        let values = Values()
        do {
            let client = APIClient.curl("http://127.0.0.1:1")
            let content = RequestContent.data(pattern(700_000)).reporting { values.add($0) }
            await #expect(throws: NetworkError.self) { try await client.send(Request<Void>.put("/", body: content)) }
        }
        #expect(await eventually { values.all.last?.isLast == true })
        #expect(values.all.allSatisfy { $0.completed == 0 })
    }

    /// A source whose reads and rewinds are chosen at random.
    private final class Bytes: CurlewCurl.Upload {
        let length: Int64?
        private let left: Locked<Int>
        private let size: Int

        init(_ size: Int, knowsLength: Bool) {
            self.size = size
            length = knowsLength ? Int64(size) : nil
            left = Locked(size)
        }

        func read(into buffer: UnsafeMutableRawBufferPointer) -> UploadStep {
            left.withLock { left in
                let count = min(left, buffer.count)
                left -= count
                return count == 0 ? .end : .bytes(count)
            }
        }

        func rewind() -> Bool {
            left.withLock { $0 = size }
            return true
        }

        func begin(resume: @escaping @Sendable () -> Void) {}
        func end() {}
    }

    private struct Passes {
        var begun = 0
        var counts: [Int] = []
        var ends = 0
    }

    @Test(
        "Reads, rewinds and reports in any order count each pass from zero, and its end once",
        arguments: 0..<40 as Range<UInt64>)
    func random(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let size = Int.random(in: 1...100_000, using: &random)
        let passes = Locked(Passes())
        let upload = CountingUpload(Bytes(size, knowsLength: Bool.random(using: &random))) {
            let pass = passes.withLock { passes in
                passes.begun += 1
                passes.counts.append(0)
                return passes.counts.count - 1
            }
            return { count in
                passes.withLock { passes in
                    if let count { passes.counts[pass] += count } else { passes.ends += 1 }
                }
            }
        }
        await upload.reportAll()
        #expect(passes.withLock { $0.begun } == 0, "nothing has begun")
        upload.begin {}
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 1)
        defer { buffer.deallocate() }
        for _ in 0..<Int.random(in: 0..<20, using: &random) {
            switch Int.random(in: 0..<4, using: &random) {
            case 0: #expect(upload.rewind())
            case 1: await upload.reportAll()
            default:
                let room = Int.random(in: 1...size, using: &random)
                _ = upload.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<room]))
            }
        }
        #expect(upload.rewind())
        while case .bytes = upload.read(into: buffer) {}
        await upload.reportAll()
        #expect(passes.withLock { $0.ends } > 0, "seed \(seed)")
        #expect(passes.withLock { $0.counts.last } == size, "seed \(seed)")
        #expect(passes.withLock { $0.counts.allSatisfy { $0 <= size } }, "seed \(seed)")
    }
}
