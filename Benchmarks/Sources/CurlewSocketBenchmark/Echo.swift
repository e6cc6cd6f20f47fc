// SPDX-License-Identifier: MIT

import Curlew
import Foundation

/// What a client did in one round. Clients in other languages print the same as JSON.
struct Sample: Codable {
    let messages: Int
    let seconds: Double
    /// The CPU time of the client's process in seconds.
    let cpu: Double
}

/// One WebSocket of Curlew: sends messages of `size` bytes, `depth` at a time, to an echo.
struct Echo {
    let port: Int
    let size: Int
    let depth: Int
    let seconds: Double

    func run() async throws -> Sample {
        let client = APIClient(baseURL: "http://127.0.0.1:\(port)")
        let socket = try await client.webSocket(.get("/"))
        let message = WebSocketMessage.binary(Data(count: size))
        var messages = socket.makeAsyncIterator()
        var count = 0
        let (start, cpu) = (ContinuousClock.now, processorSeconds())
        let end = start + .seconds(seconds)
        for _ in 0..<depth { try await socket.send(message) }
        while ContinuousClock.now < end {
            for _ in 0..<16 {
                guard case .binary(let data) = try await messages.next(), data.count == size else {
                    throw NetworkError(.badResponse, detail: "The echo is not the message.")
                }
                try await socket.send(message)
            }
            count += 16
        }
        let time = start.duration(to: .now)
        return Sample(messages: count, seconds: time / .seconds(1), cpu: processorSeconds() - cpu)
    }
}

/// The CPU time of this process in seconds.
func processorSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
