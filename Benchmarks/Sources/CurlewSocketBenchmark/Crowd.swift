// SPDX-License-Identifier: MIT

import Curlew
import Foundation

/// Many open sockets, each of which sends ten messages a second and receives their echoes.
struct Crowd {
    let port: Int
    let sockets: Int
    let seconds: Int

    struct Result: Codable {
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
        let before = residentBytes()
        var open: [WebSocket] = []
        for _ in 0..<sockets { open.append(try await client.webSocket(.get("/"))) }
        let (start, cpu) = (ContinuousClock.now, processorSeconds())
        let slowest = try await withThrowingTaskGroup(of: Duration.self) { group in
            for socket in open { group.addTask { try await receive(socket, since: start) } }
            // A hundredth of the sockets at a time, so that one timer serves all.
            group.addTask { [open] in
                for tick in 0..<(seconds * 100) {
                    try await ContinuousClock().sleep(until: start + .milliseconds(10 * tick))
                    for index in stride(from: tick % 10, to: open.count, by: 10) {
                        let time = start.duration(to: .now) / .microseconds(1)
                        try await open[index].send("\(Int(time))")
                    }
                }
                return .zero
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

    /// Receives the echoes of one socket. Returns the longest time from a message to its echo.
    private func receive(_ socket: WebSocket, since start: ContinuousClock.Instant) async throws -> Duration {
        var messages = socket.makeAsyncIterator()
        var slowest = Duration.zero
        for _ in 0..<(seconds * 10) {
            guard case .text(let text) = try await messages.next(), let sent = Int(text) else {
                throw NetworkError(.badResponse, detail: "The echo is not the message.")
            }
            slowest = max(slowest, start.duration(to: .now) - .microseconds(sent))
        }
        return slowest
    }

    private func residentBytes() -> Int {
        let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
        return (Int(line.split(separator: " ", omittingEmptySubsequences: true).dropFirst().first ?? "") ?? 0) * 1024
    }
}
