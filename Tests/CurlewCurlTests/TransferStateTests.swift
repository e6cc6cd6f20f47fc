// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCurl

/// The states of a transfer, as the table in the comment of `TransferState` has them.
@Suite(.timeLimit(.minutes(1)))
struct TransferStateTests {
    /// For each state its steps and the states after them; a star stands for a paused flow.
    private static let table: [String: [String: String]] = {
        let flows = """
            open: pause=open* resume=open fail=failed drain=draining
            open*: pause=open* resume=open fail=failed* drain=draining*
            failed: resume=failed
            failed*: resume=failed
            draining: resume=draining
            draining*: resume=draining
            """
        let ends = " end=ending leave=outside/open"
        var lines = """
            outside/open: begin=performing/open
            performing/open: needName=needsName lackDescriptor=lacksDescriptor
            needsName: resolve=resolving\(ends)
            resolving: beginAgain=performing/open\(ends)
            lacksDescriptor: beginAgain=performing/open\(ends)
            ending: leave=outside/open
            """.split(separator: "\n")
        for flow in flows.split(separator: "\n") {
            lines.append("outside/" + flow.replacing("=", with: "=outside/"))
            lines.append("performing/" + flow.replacing("=", with: "=performing/") + Substring(ends))
        }
        return lines.reduce(into: [:]) { table, line in
            let parts = line.split(separator: " ").map(String.init)
            for part in parts.dropFirst() {
                let pair = part.split(separator: "=").map(String.init)
                table[String(parts[0].dropLast()), default: [:]][pair[0]] = pair[1]
            }
        }
    }()

    private static func name(_ state: TransferState) -> String {
        let flow: (TransferState.Flow) -> String = { flow in
            switch flow {
            case .open(let paused): "open" + (paused.isEmpty ? "" : "*")
            case .failed(_, let paused): "failed" + (paused.isEmpty ? "" : "*")
            case .draining(let paused): "draining" + (paused.isEmpty ? "" : "*")
            }
        }
        return switch state {
        case .outside(let inner): "outside/" + flow(inner)
        case .curl(_, .performing(let inner)): "performing/" + flow(inner)
        case .curl(_, .needsName): "needsName"
        case .curl(_, .resolving): "resolving"
        case .curl(_, .lacksDescriptor): "lacksDescriptor"
        case .curl(_, .ending): "ending"
        }
    }

    @Test("A random walk takes the steps of the table, and every other step changes nothing")
    func walk() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        let loop = EventLoop()
        let multi = try #require(MultiHandle(loop: loop))
        defer { withExtendedLifetime(loop) { multi.close() } }
        let easy = try #require(multi.handles.take())
        let error = NetworkError(.badResponse, detail: "of a callback")
        let steps: [(name: String, step: TransferState.Step)] = [
            ("begin", .begin(easy)), ("pause", .pause(.receiving)), ("pause", .pause(.sending)), ("resume", .resume),
            ("fail", .fail(error)), ("drain", .drain), ("needName", .needName("a.test")), ("resolve", .resolve(at: 7)),
            ("lackDescriptor", .lackDescriptor), ("beginAgain", .beginAgain), ("end", .end), ("leave", .leave),
        ]
        var state = TransferState.outside(.open(paused: []))
        var taken: Set<String> = []
        for _ in 0..<100_000 {
            if Int.random(in: 0..<40, using: &random) == 0 { state = .outside(.open(paused: [])) }
            let former = Self.name(state)
            let (name, step) = steps[Int.random(in: 0..<steps.count, using: &random)]
            let expected = Self.table[former]?[name]
            let paused = state.paused
            let isTaken = state.take(step)
            try #require(isTaken == (expected != nil), "\(name) in \(former), seed \(seed)")
            try #require(Self.name(state) == expected ?? former, "\(name) in \(former), seed \(seed)")
            if expected == nil { try #require(state.paused == paused, "\(name) in \(former), seed \(seed)") }
            if isTaken { taken.insert("\(former) \(name)") }
            check(state, easy, error, seed)
        }
        #expect(taken.count == Self.table.values.reduce(0) { $0 + $1.count }, "seed \(seed)")
    }

    /// What a state says of itself agrees with its name, and it has the values that its steps brought.
    private func check(_ state: TransferState, _ easy: EasyHandle, _ error: NetworkError, _ seed: UInt64) {
        let name = Self.name(state)
        let isOutside = name.hasPrefix("outside")
        #expect(isOutside == (state.easy == nil) && (isOutside || state.easy === easy), "\(name), seed \(seed)")
        #expect(name.hasSuffix("*") == !state.paused.isEmpty, "\(name), seed \(seed)")
        #expect(name.contains("failed") == (state.failure == error), "\(name), seed \(seed)")
        #expect(name.contains("draining") == state.isDraining, "\(name), seed \(seed)")
        #expect((state.isDraining || name == "ending") == state.isDiscarding, "\(name), seed \(seed)")
        #expect((name == "resolving") == state.isResolving, "\(name), seed \(seed)")
        #expect((name == "lacksDescriptor") == state.lacksDescriptor, "\(name), seed \(seed)")
        if case .curl(_, .needsName(let found)) = state { #expect(found == "a.test", "seed \(seed)") }
        if case .curl(_, .resolving(let found, let since)) = state {
            #expect(found == "a.test" && since == 7, "seed \(seed)")
        }
    }
}
