// SPDX-License-Identifier: MIT

import CurlewUI
import Testing

@Suite(.timeLimit(.minutes(1)))
@MainActor
struct LoadableChangeTests {
    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    private func loaded(_ value: [Int]) async -> Loadable<[Int]> {
        let list = Loadable { value }
        await list.load()
        return list
    }

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @Test("A change shows before it is done, and stays when it is")
    func kept() async throws {
        let list = await loaded([1])
        let gate = Gate<Void>()
        let change = Task { try await list.change({ $0.append(2) }, commit: { try await gate.work() }) }
        #expect(await until { list.value == [1, 2] })
        #expect(list.state.word == "[1, 2]")
        gate.end(())
        try await change.value
        #expect(list.value == [1, 2])
    }

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @Test("A change that fails is reverted, and its error is thrown")
    func takenBack() async throws {
        let list = await loaded([1])
        let error = await #expect(throws: NetworkError.self) {
            try await list.change({ $0.append(2) }, commit: { throw NetworkError(.unreachable) })
        }
        #expect(error?.reason == .unreachable)
        #expect(list.state.word == "[1]")
    }

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @Test("The server's own version replaces the guess")
    func answered() async throws {
        let list = await loaded([1])
        try await list.change({ $0.append(2) }, replacement: { [1, 2, 3] })
        #expect(list.value == [1, 2, 3])
    }

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @Test("A refresh that ends while a change is in progress keeps the change")
    func refreshed() async throws {
        var server = [1]
        let list = Loadable { server }
        await list.load()
        let gate = Gate<Void>()
        let change = Task { try await list.change({ $0.append(9) }, commit: { try await gate.work() }) }
        #expect(await until { list.value == [1, 9] })
        server = [1, 2]
        await list.refresh()
        #expect(list.value == [1, 2, 9])
        gate.fail()
        await #expect(throws: NetworkError.self) { try await change.value }
        #expect(list.value == [1, 2])
    }

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @Test("After changes in any order, some failing, exactly the successful ones remain", arguments: 0..<20)
    func random(round: Int) async throws {
        let seed = UInt64.random(in: .min ... .max)
        print("LoadableChangeTests.random: seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let list = await loaded([])
        let gates = (0..<8).map { _ in Gate<Void>() }
        let changes = gates.enumerated().map { number, gate in
            Task { try await list.change({ $0.append(number) }, commit: { try await gate.work() }) }
        }
        #expect(await until { list.value == Array(0..<8) })
        var failed: Set<Int> = []
        var open = Set(0..<8)
        for number in (0..<8).shuffled(using: &random) {
            if Bool.random(using: &random) {
                failed.insert(number)
                gates[number].fail()
                _ = try? await changes[number].value
            } else {
                gates[number].end(())
                try await changes[number].value
            }
            open.remove(number)
            // What is done stands before what is in progress.
            #expect(Set(list.value ?? []) == Set(0..<8).subtracting(failed), "seed \(seed)")
        }
        #expect(list.value?.count == 8 - failed.count, "seed \(seed)")
    }
}
