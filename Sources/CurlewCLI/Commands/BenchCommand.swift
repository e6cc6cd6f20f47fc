// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// `curlew bench`: sends a request many times on a number of connections, each of which waits for its response before
/// it sends again (a closed loop), and shows the distribution of the times.
struct BenchCommand {
    let arguments: ParsedArguments
    let io: CommandIO

    func run() async throws -> ExitCode {
        let plan = try await RequestPlan(arguments, io: io)
        guard !plan.isOnce else {
            throw UsageError("The standard input can be sent once only.", "Write it into a file: @FILE.")
        }
        let console = Console(arguments, io)
        let connections = try arguments.number(.connections, in: 1...1000) ?? 10
        let duration = try arguments.seconds(.duration)
        let requests = try arguments.number(.requests, in: 1...1_000_000_000) ?? (duration == nil ? 1000 : .max)
        let (client, session) = try ClientBuilder(arguments: arguments, io: io, connections: connections)
            .client(for: plan)
        let call = plan.call { Request<HTTPResponse>($0, url: $1, body: $2, headers: $3, name: "") }
        // The first call opens a connection and shows that the request can be sent at all.
        _ = try await BenchRun.exchange(call, client)
        let start = SystemTime().now
        let run = BenchRun(client: client, call: call, remaining: requests, connections: connections)
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<connections {
                group.addTask {
                    await run.loop()
                    return false
                }
            }
            if let duration {
                group.addTask {
                    try? await Task.sleep(for: duration)
                    return true
                }
            }
            await Self.wait(for: connections, &group)
        }
        let result = run.result
        let time = start.duration(to: SystemTime().now)
        try console.write(BenchText(style: console.style, columns: io.columns).text(result, connections, time))
        try session?.save()
        guard !Task.isCancelled else { return .interrupted }
        return result.failures.isEmpty || arguments.has(.ignoreStatus) ? .success : .failure
    }
}

extension BenchCommand {
    /// Waits for all loops, or for the end of the time, which cancels the requests that still wait.
    private static func wait(for count: Int, _ group: inout TaskGroup<Bool>) async {
        var running = count
        while running > 0, let isEndOfTime = await group.next(), !isEndOfTime { running -= 1 }
        group.cancelAll()
    }
}

/// What a bench measured.
struct BenchResult: Sendable {
    /// The times of responses in nanoseconds. Of very many, a random sample.
    private(set) var times: [Int64] = []
    /// The number of responses.
    private(set) var count = 0
    var statuses: [Int: Int] = [:]
    var failures: [String: Int] = [:]
    var bytes: Int64 = 0

    /// Adds the time of a response. Of more than `limit`, each has the same chance to be kept.
    mutating func add(_ time: Int64, limit: Int) {
        count += 1
        guard times.count >= limit else { return times.append(time) }
        let place = Int.random(in: 0..<count)
        if place < limit { times[place] = time }
    }

    mutating func add(_ other: BenchResult) {
        count += other.count
        times += other.times
        statuses.merge(other.statuses, uniquingKeysWith: +)
        failures.merge(other.failures, uniquingKeysWith: +)
        bytes += other.bytes
    }

    /// Returns the time that a part of the responses did not exceed; the times are sorted.
    static func percentile(_ part: Double, of sorted: [Int64]) -> Int64 {
        guard !sorted.isEmpty else { return 0 }
        let rank = Int((part * Double(sorted.count)).rounded(.up))
        return sorted[min(sorted.count - 1, max(0, rank - 1))]
    }
}

/// The requests of a bench, which several tasks share.
final class BenchRun: Sendable {
    private struct State {
        var remaining: Int
        var result = BenchResult()
    }

    /// The most times that are kept, over all connections. More requests are sampled.
    private static let timeLimit = 4_000_000

    private let client: APIClient
    private let call: Request<HTTPResponse>
    private let timesPerConnection: Int
    private let state: Locked<State>

    init(client: APIClient, call: Request<HTTPResponse>, remaining: Int, connections: Int) {
        self.client = client
        self.call = call
        timesPerConnection = max(1, Self.timeLimit / max(1, connections))
        state = Locked(State(remaining: remaining))
    }

    var result: BenchResult { state.withLock { $0.result } }

    /// Sends one request, and reads the response without keeping it. Returns the status and the length of the body.
    static func exchange(_ call: Request<HTTPResponse>, _ client: APIClient) async throws -> (Int, Int64) {
        try await client.withResponse(to: call.options { $0.streaming = true }) { response in
            (response.status.code, try await drain(response.body))
        }
    }

    private static func drain(_ body: ResponseBody) async throws -> Int64 {
        var count: Int64 = 0
        var iterator = body.makeAsyncIterator()
        while let chunk = try await iterator.next() { count += Int64(chunk.count) }
        return count
    }

    func loop() async {
        var result = BenchResult()
        let clock = SystemTime()
        while !Task.isCancelled, take() {
            let start = clock.now
            do {
                let (code, bytes) = try await Self.exchange(call, client)
                result.bytes += bytes
                result.statuses[code, default: 0] += 1
                if code >= 400 { result.failures["status \(code)", default: 0] += 1 }
                result.add(start.duration(to: clock.now).wholeNanoseconds, limit: timesPerConnection)
            } catch {
                let error = NetworkError(error)
                if error.isCancelled { break }
                result.failures[error.label, default: 0] += 1
            }
        }
        let own = result
        state.withLock { $0.result.add(own) }
    }

    private func take() -> Bool {
        state.withLock { state in
            guard state.remaining > 0 else { return false }
            if state.remaining < .max { state.remaining -= 1 }
            return true
        }
    }
}

/// The report of a bench.
struct BenchText {
    let style: Style
    let columns: Int

    func text(_ result: BenchResult, _ connections: Int, _ time: Duration) -> String {
        let sorted = result.times.sorted()
        let seconds = max(Double(time.wholeNanoseconds) / 1e9, 1e-9)
        let rate = Double(result.count) / seconds
        var text = row("requests", "\(result.count) in \(time.brief), on \(connections) connections")
        text += row("rate", "\(Int(rate.rounded())) per second")
        text += row("bodies", "\(result.bytes) bytes")
        for (status, count) in result.statuses.sorted(by: { $0.key < $1.key }) {
            text += row("status", style(Style.role(ofStatus: status), "\(status)") + "  \(count)")
        }
        for (label, count) in result.failures.sorted(by: { $0.key < $1.key }) {
            text += row("failed", style(.bad, label) + "  \(count)")
        }
        guard let least = sorted.first, let most = sorted.last else { return text }
        let mean = sorted.reduce(0.0) { $0 + Double($1) } / Double(sorted.count)
        text += row("mean", Duration.nanoseconds(Int64(mean)).brief)
        text += row("min, max", "\(Duration.nanoseconds(least).brief), \(Duration.nanoseconds(most).brief)")
        for (name, part) in [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p99.9", 0.999)] {
            text += row(name, Duration.nanoseconds(BenchResult.percentile(part, of: sorted)).brief)
        }
        return text + "\n" + histogram(sorted, least, most)
    }

    private func row(_ name: String, _ value: String) -> String {
        "  " + style(.name, name) + String(repeating: " ", count: max(1, 12 - name.count)) + value + "\n"
    }

    /// Twelve classes between the least time and the 99.5th percentile, of equal ratio; the last one has the rest.
    private func histogram(_ sorted: [Int64], _ least: Int64, _ most: Int64) -> String {
        let classes = 12
        let top = max(Double(BenchResult.percentile(0.995, of: sorted)), Double(least) * 1.01, 2)
        var ends: [Double] = []
        var end = max(1, Double(least))
        // The ratio of neighbours is the twelfth root, found without a mathematical library.
        let ratio = Self.root(top / end, classes)
        for _ in 0..<classes {
            end *= ratio
            ends.append(end)
        }
        var counts = [Int](repeating: 0, count: classes)
        for time in sorted { counts[ends.firstIndex { Double(time) <= $0 } ?? classes - 1] += 1 }
        let greatest = max(1, counts.max() ?? 1)
        let room = min(60, max(10, columns - 30))
        return zip(ends, counts).enumerated().map { index, pair in
            let shown = index == classes - 1 ? Duration.nanoseconds(most) : .nanoseconds(Int64(pair.0))
            let time = "≤ " + shown.brief
            let bar = String(repeating: "#", count: (pair.1 * room + greatest - 1) / greatest)
            return "  " + time + String(repeating: " ", count: max(1, 12 - time.count)) + style(.string, bar)
                + " \(pair.1)\n"
        }.joined()
    }

    private static func root(_ value: Double, _ degree: Int) -> Double {
        var (low, high) = (1.0, max(1.0, value))
        for _ in 0..<60 {
            let middle = (low + high) / 2
            let power = (0..<degree).reduce(1.0) { product, _ in product * middle }
            if power < value { low = middle } else { high = middle }
        }
        return high
    }
}
