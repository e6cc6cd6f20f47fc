// SPDX-License-Identifier: MIT

import Foundation

/// Collects samples and prints them as tables or as JSON.
struct Report {
    private struct Key: Hashable {
        let client: String
        let width: Int
    }

    private let options: Options
    private let field: Field
    private var contest: Contest?
    private var order: [Key] = []
    private var samples: [Key: [Sample]] = [:]
    private var failures: [Key: [String]] = [:]
    private var notes: [String] = []
    private var finished: [Row] = []

    init(options: Options, field: Field) {
        self.options = options
        self.field = field
    }

    /// What is added from now on belongs to `contest`.
    mutating func begin(_ contest: Contest) {
        finished += rows
        self.contest = contest
        (order, samples, failures, notes) = ([], [:], [:], [])
    }

    mutating func add(_ sample: Sample, client: String, width: Int) {
        samples[key(client, width), default: []].append(sample)
    }

    mutating func addFailure(_ text: String, client: String, width: Int) {
        failures[key(client, width), default: []].append(text)
    }

    mutating func addNote(_ text: String) {
        if !notes.contains(text) { notes.append(text) }
    }

    private mutating func key(_ client: String, _ width: Int) -> Key {
        let key = Key(client: client, width: width)
        if !order.contains(key) { order.append(key) }
        return key
    }

    private var rows: [Row] {
        guard let contest else { return [] }
        return order.map { key in
            Row(
                contest, client: key.client, width: key.width, samples: samples[key] ?? [],
                failures: failures[key] ?? [])
        }
    }

    /// The table of the contest that has just ended.
    func printLast() {
        guard let contest else { return }
        let rounds = options.rounds(transfers: contest.work.isTransfer)
        let length = contest.work.isTransfer ? "one transfer each" : "\(options.seconds) s"
        print("\(options.format == .markdown ? "### " : "")\(contest.title)")
        print("\(rounds) interleaved rounds of \(length); medians (least–most)\n")
        Table(rows, contest: contest).print(markdown: options.format == .markdown)
        let absent = contest.clients.filter { field.missing[$0] != nil }
        let lines =
            failureLines + notes
            + absent.map { "\($0): not installed (Debian: \(field.missing[$0] ?? "unknown"))" } + ratios
        if !lines.isEmpty { print("\n" + lines.joined(separator: "\n")) }
        print("")
        // A table that is there should be seen, also in a pipe.
        fflush(nil)
    }

    private var failureLines: [String] {
        rows.filter { !$0.failures.isEmpty }.map { row in
            let total = row.rounds + row.failures.count
            return "\(row.client) at \(row.inFlight): \(row.failures.count) of \(total) rounds failed: "
                + Set(row.failures).sorted().joined(separator: "; ")
        }
    }

    /// Beside URLSession at its best, and the price of the typed layer.
    private var ratios: [String] {
        guard let contest, contest.suite == .small else { return [] }
        if contest.clients.contains("layer") { return [layerPrice].compactMap(\.self) }
        return contest.widths.compactMap { width in
            let at = rows.filter { $0.inFlight == width && $0.rounds > 0 }
            guard let curlew = at.first(where: { $0.client == "curlew" }), let peer = Bars.bestURLSession(at) else {
                return nil
            }
            let rate = curlew.requestsPerSecond.median / peer.requestsPerSecond.median
            let cpu = peer.cpuMicrosecondsPerRequest.median / curlew.cpuMicrosecondsPerRequest.median
            return "At \(width) in flight Curlew makes \(rate.tenths) × the requests of URLSession (\(peer.client)) "
                + "with 1/\(cpu.tenths) of its CPU."
        }
    }

    private var layerPrice: String? {
        guard let layer = rows.first(where: { $0.client == "layer" }),
            let decoder = rows.first(where: { $0.client == "decoder" })
        else { return nil }
        let tax = layer.cpuMicrosecondsPerRequest.median - decoder.cpuMicrosecondsPerRequest.median
        return "The typed layer costs \(tax.tenths) µs of CPU a call beside "
            + "\(decoder.cpuMicrosecondsPerRequest.median.tenths) µs of JSON decoding (over a transport that answers "
            + "at once)."
    }

    /// Bars and versions, or everything as JSON.
    func printEnd() {
        let all = finished + rows
        let bars = Bars(rows: all, missing: field.missing).all
        if options.format == .json { return printJSON(all, bars) }
        if !bars.isEmpty {
            print("\(options.format == .markdown ? "### " : "")Bars")
            for bar in bars { print(bar) }
            print("")
        }
        let machine = "\(ProcessInfo.processInfo.activeProcessorCount) cores shared by clients and server, loopback"
        print(([machine] + field.versions.sorted { $0.key < $1.key }.map(\.value)).joined(separator: "; "))
        if options.quick { print("Quick rounds show that everything runs; they are not for quoting.") }
    }

    private struct Everything: Encodable {
        let quick: Bool
        let cores: Int
        let versions: [String: String]
        let notInstalled: [String]
        let rows: [Row]
        let bars: [Bar]
    }

    private func printJSON(_ rows: [Row], _ bars: [Bar]) {
        let everything = Everything(
            quick: options.quick, cores: ProcessInfo.processInfo.activeProcessorCount, versions: field.versions,
            notInstalled: field.missing.keys.sorted(), rows: rows, bars: bars)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        if let data = try? encoder.encode(everything) { print(String(decoding: data, as: UTF8.self)) }
    }
}
