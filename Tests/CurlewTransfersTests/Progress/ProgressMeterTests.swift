// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewTransfers

@Suite(.timeLimit(.minutes(1)))
struct ProgressMeterTests {
    /// The values that a handler received.
    private final class Values: Sendable {
        private let values = Locked<[TransferProgress]>([])
        var all: [TransferProgress] { values.withLock { $0 } }
        var handler: TransferProgress.Handler { { value in self.values.withLock { $0.append(value) } } }
    }

    @Test("Values come at the start, at most every 100 ms, and at the end")
    func bounded() {
        let clock = ManualClock()
        let values = Values()
        let meter = ProgressMeter(values.handler, total: 1000, time: clock)
        meter.start()
        for _ in 0..<1000 {
            clock.advance(by: .milliseconds(1))
            meter.add(1)
        }
        meter.end()
        meter.add(5)
        meter.end()
        let all = values.all
        #expect(all.first == TransferProgress(completed: 0, total: 1000))
        #expect(all.count == 12)
        #expect(all.last?.isLast == true && all.last?.completed == 1000)
        #expect(all.dropLast().allSatisfy { !$0.isLast })
        #expect(zip(all, all.dropFirst()).allSatisfy { $0.completed <= $1.completed })
    }

    @Test("A small transfer reports its start and its end, however quick it is")
    func small() {
        let values = Values()
        let meter = ProgressMeter(values.handler, total: 300_000, time: ManualClock())
        meter.start()
        meter.add(300_000)
        meter.end()
        #expect(values.all.map(\.completed) == [0, 300_000])
        #expect(values.all.map(\.isLast) == [false, true])
    }

    @Test("Bytes that are sent again do not count twice, and the number never decreases")
    func restarts() {
        let clock = ManualClock()
        let values = Values()
        let meter = ProgressMeter(values.handler, total: 100, time: clock)
        meter.start()
        for bytes in [60, -1, 40, 20, 40] {
            clock.advance(by: .seconds(1))
            if bytes < 0 { meter.restart() } else { meter.add(Int64(bytes)) }
        }
        meter.end()
        #expect(values.all.map(\.completed) == [0, 60, 60, 60, 100, 100])
    }

    @Test("The rate approaches a new speed within seconds, whatever the size of the samples", arguments: [1, 10, 1000])
    func rate(samplesPerSecond: Int) {
        let clock = ManualClock()
        var rate = TransferRate()
        rate.begin(at: clock.now, completed: 0)
        var completed: Int64 = 0
        func run(seconds: Int, bytesPerSecond: Int64) {
            for _ in 0..<seconds * samplesPerSecond {
                clock.advance(by: .nanoseconds(1_000_000_000 / Int64(samplesPerSecond)))
                completed += bytesPerSecond / Int64(samplesPerSecond)
                rate.update(at: clock.now, completed: completed)
            }
        }
        run(seconds: 3, bytesPerSecond: 1_000_000)
        #expect(abs(rate.bytesPerSecond - 1_000_000) < 20_000)
        run(seconds: 20, bytesPerSecond: 3_000_000)
        #expect(abs(rate.bytesPerSecond - 3_000_000) < 100_000)
        run(seconds: 30, bytesPerSecond: 0)
        #expect(rate.bytesPerSecond < 30_000)
    }

    @Test("Concurrent counting reports one value at a time, in order, and the exact end")
    func concurrent() async {
        let inside = Locked(0)
        let values = Locked<[TransferProgress]>([])
        let meter = ProgressMeter(
            { value in
                let isAlone = inside.next() == 1
                #expect(isAlone)
                values.withLock { $0.append(value) }
                inside.withLock { $0 -= 1 }
            }, time: SystemTime())
        meter.start()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<20_000 { meter.add(3) }
                }
            }
        }
        meter.end()
        let all = values.withLock { $0 }
        #expect(all.last?.completed == 240_000 && all.last?.isLast == true)
        #expect(zip(all, all.dropFirst()).allSatisfy { $0.completed <= $1.completed })
    }

    @Test("A sequence keeps the newest value for a slow reader, and ends")
    func updates() async {
        let updates = TransferProgress.Updates()
        let handler = updates.handler
        for completed in 1...100 {
            handler(TransferProgress(completed: Int64(completed), total: 100))
        }
        handler(TransferProgress(completed: 100, total: 100, isLast: true))
        var seen: [TransferProgress] = []
        for await value in updates { seen.append(value) }
        #expect(seen == [TransferProgress(completed: 100, total: 100, isLast: true)])
    }

    @Test(
        "A value reads as a line",
        arguments: [
            (
                TransferProgress(completed: 12_600_000, total: 30_000_000, bytesPerSecond: 3_100_000),
                "42 %, 12.6 MB of 30 MB, 3.1 MB/s, 6 s left"
            ),
            (TransferProgress(completed: 999), "999 bytes"),
            (TransferProgress(completed: 0, total: 0, isLast: true), "100 %, 0 bytes of 0 bytes"),
            (
                TransferProgress(completed: 999_960, total: 2_000_000_000_000, bytesPerSecond: 1),
                "0 %, 1 MB of 2 TB, 1 bytes/s, 36500 d left"
            ),
            (
                TransferProgress(completed: 5_000, total: 1_000_000, bytesPerSecond: 5_000),
                "0 %, 5 kB of 1 MB, 5 kB/s, 3 min 19 s left"
            ),
        ])
    func text(progress: TransferProgress, line: String) {
        #expect(progress.description == line)
    }

    @Test(
        "A body reports each byte that the transport takes, over all attempts, and its end", arguments: [false, true])
    func body(fails: Bool) async throws {
        let values = Values()
        let attempts = Locked(0)
        let transport = ClosureTransport { request, _ in
            let number = attempts.next()
            #expect(request.body.length == 500_000 && request.body.canReplay)
            var count = 0
            for try await chunk in try request.body.chunks() {
                count += chunk.count
                if fails, number == 1 { throw NetworkError(.connectionLost(.requestNotSent)) }
            }
            #expect(count == 500_000)
            return HTTPResponse()
        }
        let client = APIClient.testing(transport, baseURL: "https://api.example", pipeline: [.retry()])
        let content = RequestContent.data(Data(repeating: 7, count: 500_000)).reporting(values.handler)
        try await client.send(Request<Void>.put("/x", body: content))
        #expect(attempts.withLock { $0 } == (fails ? 2 : 1))
        #expect(values.all.first == TransferProgress(completed: 0, total: 500_000))
        #expect(values.all.last?.completed == 500_000 && values.all.last?.isLast == true)
        #expect(values.all.filter(\.isLast).count == 1)
    }

    @Test("A body that is never finished ends its progress with the call")
    func broken() async throws {
        let values = Values()
        do {
            let client = APIClient(
                baseURL: "https://api.example", pipeline: [],
                transport: ClosureTransport { request, _ in
                    var chunks = try request.body.chunks().makeAsyncIterator()
                    _ = try await chunks.next()
                    throw NetworkError(.connectionLost(.requestMayHaveArrived))
                })
            let content = RequestContent.data(Data(repeating: 7, count: 500_000)).reporting(values.handler)
            await #expect(throws: NetworkError.self) { try await client.send(Request<Void>.put("/x", body: content)) }
        }
        #expect(values.all.last?.isLast == true)
    }
}
