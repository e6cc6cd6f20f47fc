// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP
import CurlewTesting

/// Cases for timeouts: each phase ends at its own limit. All other limits are disabled, so that only the tested limit
/// can end the exchange.
enum TimeoutCases {
    static let all = stalls + whole + patience

    private static let limit = Duration.milliseconds(200)

    private static func only(_ phase: NetworkError.Phase, _ limit: Duration = limit) -> Timeouts {
        .only(phase, limit)
    }

    private static let stalls = InterruptionCases.places.map { place, stage in
        let phase: NetworkError.Phase =
            switch stage {
            case .beforeRequestRead, .beforeHead, .insideHead: .firstByte
            case .afterHead, .afterBytes: .idle
            }
        return ConformanceCase(
            "a stall \(place) runs into the limit for \(phase == .idle ? "silence" : "the head")", .timeouts,
            rule: "Timeouts"
        ) { trial in
            let server = try trial.server()
            for streaming in [false, true] {
                server.enqueue(.generated(bytes: 200_000).stalled(at: stage), .text("good"))
                try await trial.expectTimeout(phase, after: limit) {
                    let response = try await trial.exchange(.get, server.url + "/", timeouts: only(phase)) {
                        $0.streaming = streaming
                    }
                    _ = try await response.chunksJoined()
                }
                try await trial.expectText(trial.exchange(.get, server.url + "/"), "good")
            }
        }
    }

    private static let whole = [
        ConformanceCase("a stalled handshake runs into the limit for connecting", .timeouts, rule: "Timeouts.connect") {
            trial in
            let server = try trial.server(answering: .text("never").stalled(at: .beforeRequestRead))
            try await trial.expectTimeout(.connect, after: limit) {
                _ = try await trial.exchange(.get, "https://127.0.0.1:\(server.port)/", timeouts: only(.connect))
            }
        },
        ConformanceCase("a head that drips in runs into the limit for the head", .timeouts, rule: "Timeouts.firstByte")
        {
            trial in
            let server = try trial.server(
                answering: .text("x").dripping(bytesPerChunk: 1, every: .milliseconds(20), from: .head))
            try await trial.expectTimeout(.firstByte, after: limit) {
                _ = try await trial.exchange(.get, server.url + "/", timeouts: only(.firstByte))
            }
        },
        ConformanceCase(
            "an upload that the server does not read reaches the idle limit", .timeouts, rule: "Timeouts.idle"
        ) {
            trial in
            let server = try trial.server(answering: .text("never").stalled(at: .beforeRequestRead))
            try await trial.expectTimeout(.idle, after: limit) {
                let body = RequestBody.bytes(Data(count: 30_000_000))
                _ = try await trial.exchange(.put, server.url + "/", body: body, timeouts: only(.idle))
            }
        },
        ConformanceCase("a call that waits for the head ends when its time is over", .timeouts, rule: "Timeouts.total")
        {
            trial in
            let server = try trial.server(answering: .text("late").delayed(by: .seconds(60)))
            try await trial.expectTimeout(.total, after: limit) {
                _ = try await trial.exchange(.get, server.url + "/", timeouts: only(.total))
            }
        },
        ConformanceCase("a call ends when its time is over, also while bytes flow", .timeouts, rule: "Timeouts.total") {
            trial in
            let drip = { (size: Int) in
                MockResponse.generated(bytes: size).dripping(bytesPerChunk: 10, every: .milliseconds(10))
            }
            let server = try trial.server(answering: drip(1000), drip(200_000))
            for _ in 0..<2 {
                try await trial.expectTimeout(.total, after: limit) {
                    let response = try await trial.exchange(.get, server.url + "/", timeouts: only(.total))
                    _ = try await response.chunksJoined()
                }
            }
        },
        ConformanceCase(
            "the deadline of the attempt is distinguished from that of the call", .timeouts,
            rule: "ExchangeContext.attemptDeadline"
        ) { trial in
            let server = try trial.server(answering: .text("never").stalled(at: .beforeHead))
            let transport = try trial.transport()
            try await trial.expectTimeout(.attempt, after: limit) {
                var context = ExchangeContext(timeouts: .none)
                context.attemptDeadline = SystemTime.Deadline(limit, after: context.time.now)
                _ = try await transport.send(HTTPRequest(url: server.url + "/"), in: context)
            }
        },
        ConformanceCase(
            "bodies may take longer than the limit of the attempt, down and up", .timeouts,
            rule: "ExchangeContext.attemptDeadline"
        ) { trial in
            let limit = Duration.seconds(1)
            let server = try trial.server(
                answering: .generated(bytes: 50).dripping(bytesPerChunk: 1, every: .milliseconds(30)))
            let transport = try trial.transport()
            func send(_ request: HTTPRequest) async throws -> HTTPResponse {
                var context = ExchangeContext(timeouts: .none)
                context.attemptDeadline = SystemTime.Deadline(limit, after: context.time.now)
                return try await transport.send(request, in: context)
            }
            let response = try await send(HTTPRequest(url: server.url + "/down"))
            try trial.equal(try await response.data(), MockResponse.pattern(0..<50), "the body")
            server.enqueue(.text("whole"))
            let body = RequestBody.stream {
                let (pieces, source) = AsyncStream.makeStream(of: Data.self)
                Task {
                    for _ in 0..<50 {
                        try? await SystemTime().sleep(for: .milliseconds(30))
                        source.yield(Data([1]))
                    }
                    source.finish()
                }
                return RequestBody.Chunks(pieces)
            }
            try await trial.expectText(send(HTTPRequest(.post, url: server.url + "/up", body: body)), "whole")
        },
        ConformanceCase("a call whose time is over is not sent", .timeouts, rule: "Timeouts.total") { trial in
            let server = try trial.server()
            try await trial.expectFailure(.timedOut(.total)) {
                _ = try await trial.exchange(.get, server.url + "/", timeouts: only(.total, .zero))
            }
            try trial.equal(server.connectionCount, 0, "the number of connections")
        },
    ]

    private static let patience = [
        ConformanceCase(
            "a reader that pauses for longer than the limit for silence gets its body", .timeouts, rule: "Timeouts.idle"
        ) { trial in
            let server = try trial.server(answering: .generated(bytes: 20_000_000))
            let transport = try trial.transport(TransportConfiguration(bodyBuffer: 16_384))
            let response = try await trial.exchange(
                .get, server.url + "/", timeouts: only(.idle), over: transport)
            var iterator = response.body.makeAsyncIterator()
            var received = try await iterator.next()?.count ?? 0
            try await SystemTime().sleep(for: limit * 3)
            while let chunk = try await iterator.next() { received += chunk.count }
            try trial.equal(received, 20_000_000, "the number of bytes")
        },
        ConformanceCase(
            "a slow body may take longer than every limit that it keeps", .timeouts, rule: "Timeouts"
        ) { trial in
            let server = try trial.server(
                answering: .generated(bytes: 40).dripping(bytesPerChunk: 1, every: .milliseconds(20)))
            let timeouts = Timeouts(connect: .seconds(10), firstByte: .milliseconds(600), idle: .milliseconds(600))
            let response = try await trial.exchange(.get, server.url + "/", timeouts: timeouts)
            try trial.equal(try await response.data(), MockResponse.pattern(0..<40), "the body")
        },
        ConformanceCase(
            "no limit and endless limits are limits, too", .timeouts, rule: "Timeouts"
        ) { trial in
            let server = try trial.server()
            server.on(.get, "/", respond: .text("ok"))
            for timeouts in [
                Timeouts.none, Timeouts(connect: .seconds(Int64.max), firstByte: .seconds(Int64.max)),
                Timeouts(idle: .seconds(Int64.max), total: .seconds(Int64.max)),
                Timeouts(connect: .seconds(100 * 86_400)),
            ] {
                try await trial.expectText(trial.exchange(.get, server.url + "/", timeouts: timeouts), "ok")
            }
        },
    ]
}
