// SPDX-License-Identifier: MIT

import Foundation

/// The tables, the bars, and what the plot shows.
struct Report {
    let seed: UInt64
    let quick: Bool

    private(set) var text = ""
    private(set) var panels: [Panel] = []
    private(set) var isMet = true

    private var clients: Int { quick ? 1000 : 10_000 }

    init(seed: UInt64, quick: Bool) {
        self.seed = seed
        self.quick = quick
    }

    mutating func run() async {
        await down()
        await sizes()
        await outage()
        await brownout()
        await flaky()
    }

    /// Requests for each call while nothing works.
    private mutating func down() async {
        let runs = await Experiments.run(
            Strategy.all.flatMap { strategy in
                Experiments.outages.map { Experiments.down(clients, $0.condition, strategy, seed) }
            })
        heading("A server that fails altogether: requests for each call, from 60 s to 90 s after it began")
        row(["\(clients) clients"] + Experiments.outages.map(\.name), isHead: true)
        let width = Experiments.outages.count
        for (number, strategy) in Strategy.all.enumerated() {
            let values = (0..<width).map { runs[number * width + $0].amplification(Experiments.downMeasured) }
            row([strategy.name] + values.map { $0.twoPlaces })
            if strategy.name == Strategy.budget.name {
                bar("amplification with budget, worst of the three", values.max() ?? 0, 1.2)
            }
        }
        panels.append(
            Panel(
                title: "The server answers 503 and nothing else, from second 20 on", ordinate: "requests per call",
                top: 3.2, shaded: 20..<110, mark: (1.2, "1.2, the bar from second 80 on"),
                lines: Strategy.all.enumerated().map { number, strategy in
                    Panel.Line(strategy) { runs[number * width].amplification($0 - 1..<$0 + 1) }
                }, length: 108, start: 10))
    }

    /// The same for fewer and more clients.
    private mutating func sizes() async {
        let strategies = [Strategy.jitter, .budget, .full]
        let counts = quick ? [10, 100, 1000] : [10, 100, 1000, 10_000, 100_000]
        let runs = await Experiments.run(
            counts.flatMap { count in strategies.map { Experiments.down(count, .failing(503), $0, seed) } })
        heading("The same for more and fewer clients (503)")
        row(["clients"] + strategies.map(\.name), isHead: true)
        for (number, count) in counts.enumerated() {
            let values = strategies.indices.map {
                runs[number * strategies.count + $0].amplification(Experiments.downMeasured)
            }
            row(["\(count)"] + values.map(\.twoPlaces))
        }
    }

    /// What comes after ten seconds without a server.
    private mutating func outage() async {
        let runs = await Experiments.run(
            Strategy.all.flatMap { strategy in
                Experiments.outages.map { Experiments.outage(clients, $0.condition, strategy, seed) }
            })
        heading(
            "Ten seconds without a server: the most requests in any second after it, by the mean of the minute before")
        row(["\(clients) clients"] + Experiments.outages.map(\.name), isHead: true)
        let (width, crowd) = (Experiments.outages.count, Double(clients))
        for (number, strategy) in Strategy.all.enumerated() {
            let values = (0..<width).map {
                runs[number * width + $0].peak(Experiments.outageAfter, over: Experiments.outageBefore)
            }
            row([strategy.name] + values.map(\.twoPlaces))
            if strategy.name == Strategy.budget.name {
                bar("peak after an outage of 10 s, with budget (503)", values[0], 1.5)
                bar("peak after an outage of 10 s, with budget (refused)", values[1], 1.5)
                bar("peak after an outage of 10 s, with budget (silent)", values[2], 1.5)
            }
        }
        panels.append(
            Panel(
                title: "The server is silent from second 60 to 70", ordinate: "requests per second, of the usual",
                top: 3.4, shaded: 60..<70, mark: (1.5, "1.5, the bar"),
                lines: Strategy.all.enumerated().map { number, strategy in
                    Panel.Line(strategy) { second in
                        Double(Traffic.sum(runs[number * width + 2].requests, second..<second + 1)) / crowd
                    }
                }, length: 120, start: 50))
    }

    /// Whether an overload ends with its cause.
    private mutating func brownout() async {
        let count = clients / 5
        let runs = await Experiments.run(Strategy.all.map { Experiments.brownout(count, $0, seed) })
        heading("Half the capacity for 30 s: does the overload end with its cause?")
        row(["\(count) clients", "good again after", "calls that succeed two minutes later"], isHead: true)
        for (strategy, run) in zip(Strategy.all, runs) {
            let recovery = run.recovery(from: Experiments.brownoutEnd, until: 300)
            row([
                strategy.name, recovery.map { "\($0) s" } ?? "never",
                run.success(Experiments.brownoutMeasured).percent,
            ])
        }
        panels.append(
            Panel(
                title: "The server has half its capacity from second 60 to 90", ordinate: "share of calls that succeed",
                top: 1.05, shaded: 60..<90, mark: nil,
                lines: zip(Strategy.all, runs).map { strategy, run in
                    Panel.Line(strategy) { run.success($0 - 1..<$0 + 1) }
                }, length: 238, start: 50))
    }

    /// What a budget costs where retries are worth having.
    private mutating func flaky() async {
        let (shares, count) = ([0.01, 0.05, 0.1, 0.2], quick ? 100 : 1000)
        let strategies = [Strategy.none, .jitter, .budget, .full]
        let runs = await Experiments.run(
            strategies.flatMap { strategy in shares.map { Experiments.flaky(count, $0, strategy, seed) } })
        heading("A server that fails at some requests, for ten minutes: calls that succeed")
        row(["\(count) clients"] + shares.map { "\($0.percent) fail" }, isHead: true)
        for (number, strategy) in strategies.enumerated() {
            row([strategy.name] + shares.indices.map { runs[number * shares.count + $0].success(0..<600).percent })
        }
    }

    private mutating func heading(_ title: String) {
        text += "\n### \(title)\n\n"
    }

    private mutating func row(_ cells: [String], isHead: Bool = false) {
        text += "| " + cells.joined(separator: " | ") + " |\n"
        if isHead { text += "|---|" + String(repeating: "---:|", count: cells.count - 1) + "\n" }
    }

    private var bars: [String] = []

    private mutating func bar(_ measure: String, _ value: Double, _ most: Double) {
        if value > most { isMet = false }
        bars.append("\(value <= most ? "pass" : "MISS")  \(measure): \(value.twoPlaces) (at most \(most))")
    }

    /// The tables, and the bars behind them.
    var description: String { text + "\n" + bars.joined(separator: "\n") + "\n" }
}

extension Double {
    var twoPlaces: String { String(format: "%.2f", self) }

    /// `99.97 %`, `5 %`
    var percent: String {
        let value = self * 100
        return (value == value.rounded() ? String(format: "%.0f", value) : String(format: "%.2f", value)) + " %"
    }
}
