// SPDX-License-Identifier: MIT

import CurlewUI
import Testing

/// Changes of items in lists that become others in the meantime.
@Suite(.timeLimit(.minutes(1)))
@MainActor
struct ListChangeTests {
    struct Item: Identifiable, Hashable, Sendable {
        let id: Int
        var isSeen = false
        var stars = 0
    }

    /// What the server has, for both kinds of lists.
    final class Server {
        var items: [Item]
        init(_ ids: some Sequence<Int>) { items = ids.map { Item(id: $0) } }
    }

    private let gate = Gate<Void>()

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    private func list(_ server: Server) async -> Loadable<[Item]> {
        let list = Loadable { server.items }
        await list.load()
        return list
    }

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    private func pages(_ server: Server) async -> PagedLoadable<Item, Int> {
        let pages = PagedLoadable<Item, Int> { _ in Page(items: server.items, next: nil) }
        await pages.load()
        return pages
    }

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @Test("An index from before a refresh that brought a shorter list ends nothing")
    func shorter() async throws {
        let server = Server(0..<5)
        let list = await list(server)
        let index = 4
        let change = Task { try await list.change({ $0[index].isSeen = true }, commit: { try await gate.work() }) }
        #expect(await until { list.value?[4].isSeen == true })
        server.items = [Item(id: 0)]
        await list.refresh()
        #expect(list.value == [Item(id: 0)])
        gate.end(())
        try await change.value
        #expect(list.value == [Item(id: 0)])
        guard case .loaded(_, let freshness) = list.state else {
            Issue.record("not loaded")
            return
        }
        #expect(freshness.isStale)
    }

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @Test("An index from before another change that is taken back ends nothing")
    func takenBack() async throws {
        let list = await list(Server(0..<1))
        let first = Task { try await list.change({ $0.append(Item(id: 1)) }, commit: { try await gate.work() }) }
        #expect(await until { list.value?.count == 2 })
        let other = Gate<Void>()
        let second = Task { try await list.change({ $0[1].stars = 5 }, commit: { try await other.work() }) }
        #expect(await until { list.value?.last?.stars == 5 })
        gate.fail()
        _ = try? await first.value
        #expect(list.value == [Item(id: 0)])
        other.end(())
        try await second.value
    }

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @Test("A change by identity finds its item after a refresh, and detects its removal")
    func byIdentity() async throws {
        let server = Server(0..<5)
        let list = await list(server)
        let change = Task { try await list.change(3, { $0.isSeen = true }, commit: { try await gate.work() }) }
        #expect(await until { list.value?[3].isSeen == true })
        server.items = [Item(id: 9), Item(id: 3, stars: 2)]
        await list.refresh()
        #expect(list.value == [Item(id: 9), Item(id: 3, isSeen: true, stars: 2)])
        server.items = [Item(id: 9)]
        await list.refresh()
        #expect(list.value == [Item(id: 9)])
        gate.end(())
        try await change.value
        #expect(list.value == [Item(id: 9)])
    }

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @Test("Items are inserted, replaced by the server's, and removed in a list")
    func insertAndRemove() async throws {
        let list = await list(Server(1...2))
        try await list.insert(Item(id: -1)) {
            #expect(list.value?.map(\.id) == [-1, 1, 2])
            return Item(id: 7, stars: 1)
        }
        #expect(list.value == [Item(id: 7, stars: 1), Item(id: 1), Item(id: 2)])
        try await list.remove(1) { #expect(list.value?.map(\.id) == [7, 2]) }
        await #expect(throws: NetworkError(.unreachable)) {
            try await list.remove(2) { throw NetworkError(.unreachable) }
        }
        #expect(list.value?.map(\.id) == [7, 2])
        try await list.change(2) {
            $0.stars = 3
        } replacement: {
            Item(id: 2, stars: 4)
        }
        #expect(list.value?.last?.stars == 4)
    }

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @Test("A list of pages shows changes at once, keeps them over a refresh, and reverts failed ones")
    func inPages() async throws {
        let server = Server(0..<3)
        let pages = await pages(server)
        let change = Task { try await pages.change(2, { $0.isSeen = true }, commit: { try await gate.work() }) }
        let other = Gate<Void>()
        let removal = Task { try await pages.remove(0) { try await other.work() } }
        #expect(await until { pages.items == [Item(id: 1), Item(id: 2, isSeen: true)] })
        server.items = [Item(id: 2), Item(id: 0)]
        await pages.refresh()
        #expect(pages.items == [Item(id: 2, isSeen: true)])
        other.fail()
        await #expect(throws: NetworkError(.unreachable)) { try await removal.value }
        #expect(pages.items == [Item(id: 2, isSeen: true), Item(id: 0)])
        gate.end(())
        try await change.value
        #expect(pages.items == [Item(id: 2, isSeen: true), Item(id: 0)])
        server.items = []
        await pages.refresh()
        #expect(pages.items.isEmpty)
    }

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @Test("Items are inserted into pages, and changes made elsewhere are shown")
    func elsewhere() async throws {
        let pages = await pages(Server(1...3))
        try await pages.insert(Item(id: -1), at: 99) { Item(id: 4) }
        #expect(pages.items.map(\.id) == [1, 2, 3, 4])
        await #expect(throws: NetworkError(.unreachable)) {
            try await pages.insert(Item(id: -1)) { throw NetworkError(.unreachable) }
        }
        try await pages.change(1) {
            $0.stars = 1
        } replacement: {
            Item(id: 1, stars: 2)
        }
        pages.change(2) { $0.isSeen = true }
        pages.remove(3)
        pages.insert(Item(id: 5))
        pages.remove(77)
        #expect(pages.items == [Item(id: 5), Item(id: 1, stars: 2), Item(id: 2, isSeen: true), Item(id: 4)])
    }

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @Test("The next page is still loaded near the end of the items, and adds to what came")
    func scrolling() async throws {
        var asked: [Int?] = []
        let pages = PagedLoadable<Item, Int>(prefetchDistance: 2) { cursor in
            asked.append(cursor)
            let start = cursor ?? 0
            return Page(items: (start..<start + 4).map { Item(id: $0) }, next: start + 4)
        }
        await pages.load()
        pages.remove(3)
        pages.appeared(Item(id: 1))
        #expect(await until { !pages.isLoading })
        #expect(asked == [nil, 4])
        #expect(pages.items.map(\.id) == [0, 1, 2, 4, 5, 6, 7])
    }

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @Test(
        "After changes and refreshes in any order exactly the successful changes remain",
        arguments: 0..<20)
    func random(round: Int) async throws {
        let seed = UInt64.random(in: .min ... .max)
        print("ListChangeTests.random: seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let server = Server(0..<8)
        let pages = await pages(server)
        let gates = (0..<8).map { _ in Gate<Void>() }
        let changes = gates.enumerated().map { id, gate in
            Task { try await pages.change(id, { $0.stars += 1 }, commit: { try await gate.work() }) }
        }
        #expect(await until { pages.items.allSatisfy { $0.stars == 1 } })
        var expected = [Int](repeating: 1, count: 8)
        for id in (0..<8).shuffled(using: &random) {
            if Bool.random(using: &random) {
                server.items.shuffle(using: &random)
                await pages.refresh()
            }
            if Bool.random(using: &random) {
                gates[id].fail()
                _ = try? await changes[id].value
                expected[id] = 0
            } else {
                server.items = server.items.map { $0.id == id ? Item(id: id, stars: 1) : $0 }
                gates[id].end(())
                try await changes[id].value
            }
            for item in pages.items { #expect(item.stars == expected[item.id], "seed \(seed), item \(item.id)") }
        }
    }
}
