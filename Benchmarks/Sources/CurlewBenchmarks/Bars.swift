// SPDX-License-Identifier: MIT

import Foundation

/// A measure that has to be reached, and what it is in this run.
struct Bar: Encodable, CustomStringConvertible {
    let measure: String
    let required: String
    /// Nil when something it needs was not measured.
    let value: Double?
    let isMet: Bool?
    let problem: String?

    var description: String {
        let found = value.map { String(format: "%.2f", $0) } ?? "not measured: \(problem ?? "")"
        let word = isMet.map { $0 ? "pass" : "MISS" } ?? "    "
        return "\(word)  \(measure): \(found) (\(required))"
    }
}

/// The bars of the suites that ran.
struct Bars {
    let rows: [Row]
    let missing: [String: String]

    var all: [Bar] {
        let suites = Set(rows.map(\.suite))
        var bars: [Bar] = []
        for suite in [SuiteName.small, .peers] where suites.contains(suite) { bars += beside(urlSession: suite) }
        if suites.contains(.peers) { bars += beside(go: .peers) }
        if suites.contains(.protocols) { bars.append(http2) }
        if suites.contains(.connections) { bars.append(connections) }
        if suites.contains(.transfer) { bars += transfers }
        if suites.contains(.cache) { bars += caches }
        return bars
    }

    static func bestURLSession(_ rows: [Row]) -> Row? {
        rows.filter { $0.client.hasPrefix("urlsession") && $0.rounds > 0 }
            .max { $0.requestsPerSecond.median < $1.requestsPerSecond.median }
    }

    private enum Limit {
        case atLeast(Double)
        case atMost(Double)
    }

    private func bar(_ measure: String, _ limit: Limit, _ unit: String = "×", _ value: () throws -> Double) -> Bar {
        let required =
            switch limit {
            case .atLeast(let bound): "at least \(bound) \(unit)"
            case .atMost(let bound): "at most \(bound) \(unit)"
            }
        do {
            let value = try value()
            let isMet =
                switch limit {
                case .atLeast(let bound): value >= bound
                case .atMost(let bound): value <= bound
                }
            return Bar(measure: measure, required: required, value: value, isMet: isMet, problem: nil)
        } catch {
            return Bar(measure: measure, required: required, value: nil, isMet: nil, problem: "\(error)")
        }
    }

    private func row(_ suite: SuiteName, _ client: String, _ width: Int, _ fits: (Row) -> Bool = { _ in true }) throws
        -> Row
    {
        if missing[client] != nil { throw Failure("\(client) is not installed") }
        let found = rows.first { row in
            row.suite == suite && row.inFlight == width && row.client == client && row.rounds > 0 && fits(row)
        }
        guard let found else { throw Failure("there is no figure for \(client) at \(width) in flight") }
        return found
    }

    private func beside(urlSession suite: SuiteName) -> [Bar] {
        func best() throws -> Row { try urlSession { $0.suite == suite && $0.inFlight == 64 } }
        return [
            bar("typed small GET at 64 in flight, requests beside URLSession", .atLeast(12)) {
                try rate(suite, "curlew", 64) / best().requestsPerSecond.median
            },
            bar("typed small GET at 64 in flight, CPU beside URLSession", .atMost(0.125)) {
                try row(suite, "curlew", 64).cpuMicrosecondsPerRequest.median
                    / best().cpuMicrosecondsPerRequest.median
            },
        ]
    }

    private func beside(go suite: SuiteName) -> [Bar] {
        [(1, 1.6), (16, 1.35), (64, 1.25), (256, 1.3)].flatMap { width, mostCPU in
            [
                bar("typed small GET at \(width) in flight, requests beside Go", .atLeast(1)) {
                    try rate(suite, "curlew", width) / rate(suite, "go", width)
                },
                bar("typed small GET at \(width) in flight, CPU beside the C loop", .atMost(mostCPU)) {
                    try row(suite, "curlew", width).cpuMicrosecondsPerRequest.median
                        / row(suite, "libcurl", width).cpuMicrosecondsPerRequest.median
                },
            ]
        }
    }

    private func rate(_ suite: SuiteName, _ client: String, _ width: Int) throws -> Double {
        try row(suite, client, width).requestsPerSecond.median
    }

    private var caches: [Bar] {
        let hits = [1, 64].flatMap { width in
            [("memory", "cache-memory", 0.25), ("disk", "cache-sqlite", 1.0)].map { place, client, most in
                bar("CPU of an answer from \(place) beside one from the network, \(width) in flight", .atMost(most)) {
                    try cpu(client, width) / cpu("cache-none", width)
                }
            }
        }
        return hits + [
            bar("CPU of a look-up among 100,000 entries beside one among 1,000", .atMost(2)) {
                try cpu("lookup-100000", 1) / cpu("lookup-1000", 1)
            }
        ]
    }

    private func cpu(_ client: String, _ width: Int) throws -> Double {
        try row(.cache, client, width).cpuMicrosecondsPerRequest.median
    }

    private var http2: Bar {
        bar("typed small GET over HTTP/2 at 64 in flight, requests beside URLSession", .atLeast(10)) {
            try row(.protocols, "curlew", 64) { $0.door == .h2 }.requestsPerSecond.median
                / urlSession { $0.suite == .protocols && $0.door == .h2 && $0.inFlight == 64 }
                .requestsPerSecond.median
        }
    }

    private var connections: Bar {
        bar("new TLS connections for a second of CPU beside URLSession, full handshakes", .atLeast(5)) {
            guard let curlew = rows.first(where: { $0.client == "curlew" && $0.door == .tlsOnce && $0.rounds > 0 })
            else { throw Failure("there is no figure for curlew") }
            let peers = rows.filter { row in
                row.client.hasPrefix("urlsession") && row.door == .tlsOnce && row.rounds > 0
                    && row.inFlight == curlew.inFlight
            }
            guard let best = peers.map(\.cpuMicrosecondsPerRequest.median).min() else {
                throw Failure("there is no figure for URLSession")
            }
            return best / curlew.cpuMicrosecondsPerRequest.median
        }
    }

    private func urlSession(_ fits: (Row) -> Bool) throws -> Row {
        guard let row = Self.bestURLSession(rows.filter(fits)) else {
            throw Failure("there is no figure for URLSession")
        }
        return row
    }

    private var transfers: [Bar] {
        [Door.plain, .tls, .h2].flatMap { door in
            ["download", "upload"].flatMap { kind -> [Bar] in
                let fits = { (row: Row) in row.door == door && row.work.hasPrefix(kind) }
                return [
                    bar("\(kind), \(door.title), speed beside curl", .atLeast(0.95)) {
                        try row(.transfer, "curlew", 1, fits).requestsPerSecond.median
                            / row(.transfer, "curl", 1, fits).requestsPerSecond.median
                    },
                    bar("\(kind), \(door.title), memory grows", .atMost(24), "MB") {
                        guard let growth = try row(.transfer, "curlew", 1, fits).growthMegabytes else {
                            throw Failure("the system does not tell")
                        }
                        return growth
                    },
                ]
            }
        }
    }
}
