// SPDX-License-Identifier: MIT

/// What is simulated. Times in seconds; each begins with a time in which all is well.
enum Experiments {
    static let warmUp = 60
    static let shortWarmUp = 20

    /// How a server can be down.
    static let outages: [(name: String, condition: Condition)] = [
        ("503", .failing(503)), ("refused", .refusing), ("silent", .hanging),
    ]

    /// The server fails altogether and for good.
    static func down(_ clients: Int, _ condition: Condition, _ strategy: Strategy, _ seed: UInt64) -> Simulation {
        Simulation(
            clients: clients, strategy: strategy,
            server: Server(conditions: [(0, .well), (second(shortWarmUp), condition)]),
            length: .seconds(shortWarmUp + 90), seed: seed)
    }

    static let downMeasured = (shortWarmUp + 60)..<(shortWarmUp + 90)

    /// The server is away for ten seconds. It has half again as much capacity as it needs.
    static func outage(_ clients: Int, _ condition: Condition, _ strategy: Strategy, _ seed: UInt64) -> Simulation {
        let conditions: [(Int64, Condition)] = [(0, .well), (second(warmUp), condition), (second(warmUp + 10), .well)]
        return Simulation(
            clients: clients, strategy: strategy,
            server: Server(capacity: 1.5 * Double(clients), conditions: conditions), length: .seconds(warmUp + 70),
            seed: seed)
    }

    static let outageBefore = 0..<warmUp
    static let outageAfter = (warmUp + 10)..<(warmUp + 70)

    /// The server has half its capacity for half a minute, and a quarter more than it needs otherwise. Clients give an
    /// attempt one second.
    static func brownout(_ clients: Int, _ strategy: Strategy, _ seed: UInt64) -> Simulation {
        let conditions: [(Int64, Condition)] = [(0, .well), (second(warmUp), .slow(0.5)), (second(warmUp + 30), .well)]
        return Simulation(
            clients: clients, patience: .seconds(1), strategy: strategy,
            server: Server(capacity: 1.25 * Double(clients), conditions: conditions), length: .seconds(warmUp + 240),
            seed: seed)
    }

    static let brownoutEnd = warmUp + 30
    static let brownoutMeasured = (warmUp + 180)..<(warmUp + 240)

    /// The server fails at a share of its requests, by chance, for ten minutes.
    static func flaky(_ clients: Int, _ share: Double, _ strategy: Strategy, _ seed: UInt64) -> Simulation {
        Simulation(
            clients: clients, strategy: strategy, server: Server(conditions: [(0, .flaky(share))]),
            length: .seconds(600), seed: seed)
    }

    private static func second(_ number: Int) -> Int64 { Int64(number) * 1_000_000_000 }

    /// Runs all of them, as many at a time as there are processors, and returns their results in the same order.
    static func run(_ simulations: [Simulation]) async -> [Traffic] {
        await withTaskGroup(of: (Int, Traffic).self) { group in
            for (number, simulation) in simulations.enumerated() {
                group.addTask { (number, simulation.run()) }
            }
            var results = Array(repeating: Traffic(), count: simulations.count)
            for await (number, traffic) in group { results[number] = traffic }
            return results
        }
    }
}
