// SPDX-License-Identifier: MIT

import Foundation

/// Collects samples and prints them as a table or as JSON.
struct Report {
    private struct Row: Codable {
        let client: String
        let inFlight: Int
        let rounds: Int
        let requestsPerSecond: Spread
        let cpuMicrosecondsPerRequest: Spread
        let latencyMedianMicroseconds: Double
        let latencyP99Microseconds: Double
        let peakMegabytes: Double
        let failures: [String]
    }

    private struct Spread: Codable {
        let median: Double
        let least: Double
        let most: Double

        init(_ values: [Double]) {
            let sorted = values.sorted()
            least = sorted.first ?? 0
            most = sorted.last ?? 0
            median = sorted.isEmpty ? 0 : (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
        }
    }

    private struct Key: Hashable {
        let client: String
        let width: Int
    }

    private let options: Options
    private var order: [Key] = []
    private var samples: [Key: [Sample]] = [:]
    private var failures: [Key: [String]] = [:]

    init(options: Options) {
        self.options = options
    }

    mutating func add(_ sample: Sample, client: String, width: Int) {
        let key = note(client, width)
        samples[key, default: []].append(sample)
    }

    mutating func addFailure(_ text: String, client: String, width: Int) {
        let key = note(client, width)
        failures[key, default: []].append(text)
    }

    private mutating func note(_ client: String, _ width: Int) -> Key {
        let key = Key(client: client, width: width)
        if !order.contains(key) { order.append(key) }
        return key
    }

    func print() {
        let rows = order.map(row)
        options.json ? printJSON(rows) : printTable(rows)
    }

    private func row(_ key: Key) -> Row {
        let samples = samples[key] ?? []
        return Row(
            client: key.client, inFlight: key.width, rounds: samples.count,
            requestsPerSecond: Spread(samples.map(\.requestsPerSecond)),
            cpuMicrosecondsPerRequest: Spread(samples.map(\.cpuMicroseconds)),
            latencyMedianMicroseconds: Spread(samples.map(\.median)).median,
            latencyP99Microseconds: Spread(samples.map(\.p99)).median,
            peakMegabytes: Spread(samples.map(\.peakMegabytes)).median, failures: failures[key] ?? [])
    }

    private func printJSON(_ rows: [Row]) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        if let data = try? encoder.encode(rows) { Swift.print(String(decoding: data, as: UTF8.self)) }
    }

    private func printTable(_ rows: [Row]) {
        Swift.print("Small typed GET (200 B of JSON), nginx on loopback, \(options.rounds) interleaved rounds of")
        Swift.print("\(options.seconds) s, medians (least–most). CPU is user + system of the client's process.\n")
        line("client", "in flight", "requests/s", "(least–most)", "CPU µs", "p50 µs", "p99 µs", "MB")
        for row in rows where !["layer", "decoder"].contains(row.client) {
            line(
                row.client, "\(row.inFlight)", whole(row.requestsPerSecond.median),
                "\(whole(row.requestsPerSecond.least))–\(whole(row.requestsPerSecond.most))",
                row.client == "wrk" ? "" : tenth(row.cpuMicrosecondsPerRequest.median),
                row.client == "wrk" ? "" : whole(row.latencyMedianMicroseconds),
                row.client == "wrk" ? "" : whole(row.latencyP99Microseconds),
                row.client == "wrk" ? "" : whole(row.peakMegabytes))
            for failure in Set(row.failures) {
                Swift.print("    \(row.failures.count) of \(options.rounds) rounds failed: \(failure)")
            }
        }
        printRatios(rows)
    }

    private func printRatios(_ rows: [Row]) {
        Swift.print("")
        for width in options.widths {
            let at = rows.filter { $0.inFlight == width && $0.rounds > 0 }
            guard let curlew = at.first(where: { $0.client == "curlew" }),
                let peer = at.filter({ $0.client.hasPrefix("urlsession") })
                    .max(by: { $0.requestsPerSecond.median < $1.requestsPerSecond.median })
            else { continue }
            let rate = curlew.requestsPerSecond.median / peer.requestsPerSecond.median
            let cpu = curlew.cpuMicrosecondsPerRequest.median / peer.cpuMicrosecondsPerRequest.median
            Swift.print(
                "At \(width) in flight Curlew makes \(tenth(rate)) × the requests of URLSession (\(peer.client)) "
                    + "with 1/\(tenth(1 / cpu)) of its CPU.")
        }
        if let layer = rows.first(where: { $0.client == "layer" }),
            let decoder = rows.first(where: { $0.client == "decoder" })
        {
            let tax = layer.cpuMicrosecondsPerRequest.median - decoder.cpuMicrosecondsPerRequest.median
            Swift.print(
                "The typed layer costs \(tenth(tax)) µs of CPU a call beside \(tenth(decoder.cpuMicrosecondsPerRequest.median)) µs "
                    + "of JSON decoding (over a transport that answers at once).")
        }
    }

    private func line(_ columns: String...) {
        let widths = [18, 9, 11, 16, 8, 8, 8, 6]
        let text = zip(columns, widths).enumerated().map { index, pair in
            let padding = String(repeating: " ", count: max(0, pair.1 - pair.0.count))
            return index == 0 ? pair.0 + padding : padding + pair.0
        }
        Swift.print(text.joined(separator: " "))
    }

    private func whole(_ value: Double) -> String { "\(Int(value.rounded()))" }
    private func tenth(_ value: Double) -> String { String(format: "%.1f", value) }
}
