// SPDX-License-Identifier: MIT

import Curlew
import Foundation

/// Many open sockets, each of which sends a message ten times a second and receives its echo.
struct Crowd {
    let port: Int
    let sockets: Int
    let seconds: Int

    struct Result {
        let messages: Int
        /// CPU time of the process by wall time; 1 is one core.
        let cores: Double
        /// The growth of the resident memory in bytes by socket.
        let bytesPerSocket: Int
        /// The longest time from sending a message to its echo.
        let slowest: Duration
    }

    func run() async throws -> Result {
        let client = APIClient(
            baseURL: "http://127.0.0.1:\(port)", pipeline: [], transport: CurlTransport(options: .init(eventLoops: 1)))
        // What a first connection needs is not what each one needs.
        let first = try await client.webSocket(.get("/"))
        try await exchange(first, 0)
        let before = residentBytes()
        var open: [WebSocket] = []
        for _ in 0..<sockets { open.append(try await client.webSocket(.get("/"))) }
        let (start, cpu) = (ContinuousClock.now, processorSeconds())
        let slowest = try await withThrowingTaskGroup(of: Duration.self) { group in
            for (index, socket) in open.enumerated() {
                group.addTask { try await talk(socket, offset: .microseconds(index * 100_000 / sockets)) }
            }
            return try await group.reduce(.zero) { max($0, $1) }
        }
        let time = start.duration(to: .now) / .seconds(1)
        let result = Result(
            messages: sockets * seconds * 10, cores: (processorSeconds() - cpu) / time,
            bytesPerSocket: (residentBytes() - before) / sockets, slowest: slowest)
        await first.close()
        return result
    }

    /// Ten messages a second. Returns the longest time from a message to its echo.
    private func talk(_ socket: WebSocket, offset: Duration) async throws -> Duration {
        let start = ContinuousClock.now + offset
        var slowest = Duration.zero
        for number in 0..<(seconds * 10) {
            try await ContinuousClock().sleep(until: start + .milliseconds(100 * number), tolerance: .milliseconds(5))
            slowest = max(slowest, try await exchange(socket, number))
        }
        return slowest
    }

    @discardableResult
    private func exchange(_ socket: WebSocket, _ number: Int) async throws -> Duration {
        let begin = ContinuousClock.now
        try await socket.send("message \(number)")
        var messages = socket.makeAsyncIterator()
        guard try await messages.next() == .text("message \(number)") else {
            throw NetworkError(.badResponse, detail: "The echo is not the message.")
        }
        return begin.duration(to: .now)
    }

    private func residentBytes() -> Int {
        let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
        return (Int(line.split(separator: " ", omittingEmptySubsequences: true).dropFirst().first ?? "") ?? 0) * 1024
    }
}
