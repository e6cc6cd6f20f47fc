// SPDX-License-Identifier: MIT

import CurlewUI
import Testing

@Suite(.timeLimit(.minutes(1)))
@MainActor
struct PagedLoadableTests {
    struct Item: Identifiable, Hashable, Sendable {
        let id: Int
        var text = ""
    }

    let gate = Gate<Page<Item, Int>>()

    private func page(_ ids: Range<Int>, next: Int?, text: String = "") -> Page<Item, Int> {
        Page(items: ids.map { Item(id: $0, text: text) }, next: next)
    }

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    private func make(prefetch: Int = 3, limit: Int = 1000, cursors: Locked<[Int?]> = Locked([])) -> PagedLoadable<
        Item, Int
    > {
        PagedLoadable(prefetchDistance: prefetch, pageLimit: limit) { [gate] cursor in
            cursors.withLock { $0.append(cursor) }
            return try await gate.work()
        }
    }

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @Test("Pages load one after the other, each with the cursor before, until there are no more")
    func pages() async {
        let cursors = Locked<[Int?]>([])
        let list = make(cursors: cursors)
        #expect(list.hasMore)
        gate.end(page(0..<10, next: 10), of: 1)
        gate.end(page(10..<20, next: 20), of: 2)
        gate.end(page(20..<25, next: nil), of: 3)
        await list.load()
        await list.load()
        #expect(list.items.count == 10)
        await list.loadMore()
        await list.loadMore()
        #expect(list.items.map(\.id) == Array(0..<25))
        #expect(!list.hasMore)
        await list.loadMore()
        #expect(cursors.withLock { $0 } == [nil, 10, 20])
    }

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @Test("The next page is requested once, when an item near the end appears")
    func prefetches() async {
        let list = make()
        gate.end(page(0..<10, next: 10), of: 1)
        await list.load()
        for item in list.items.prefix(7) { list.appeared(item) }
        #expect(!list.isLoading)
        for item in list.items.suffix(3) { list.appeared(item) }
        #expect(list.isLoading)
        #expect(await until { gate.begun == 2 })
        gate.end(page(10..<20, next: nil), of: 2)
        #expect(await until { list.items.count == 20 })
        #expect(gate.begun == 2)
        for item in list.items { list.appeared(item) }
        #expect(!list.isLoading)
    }

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @Test("A page that fails leaves the items, and is retried from there only on request")
    func fails() async {
        let cursors = Locked<[Int?]>([])
        let list = make(cursors: cursors)
        gate.end(page(0..<10, next: 10), of: 1)
        await list.load()
        gate.fail(2)
        await list.loadMore()
        #expect(list.error?.reason == .unreachable)
        #expect(list.items.count == 10)
        list.appeared(Item(id: 9))
        #expect(!list.isLoading)
        gate.end(page(10..<12, next: nil), of: 3)
        await list.retry()
        #expect(list.error == nil)
        #expect(list.items.count == 12)
        #expect(cursors.withLock { $0 } == [nil, 10, 10])
    }

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @Test("An item that comes twice is shown once, as it came last")
    func twice() async {
        let list = make()
        gate.end(page(0..<10, next: 10, text: "old"), of: 1)
        gate.end(page(8..<12, next: nil, text: "new"), of: 2)
        await list.load()
        await list.loadMore()
        #expect(list.items.map(\.id) == Array(0..<12))
        #expect(list.items[9].text == "new")
        #expect(list.items[7].text == "old")
    }

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @Test("A refresh shows the old items until the first page comes, and drops loads in progress")
    func refreshes() async {
        let list = make()
        gate.end(page(0..<10, next: 10), of: 1)
        await list.load()
        let more = Task { await list.loadMore() }
        #expect(await until { gate.begun == 2 })
        let refresh = Task { await list.refresh() }
        #expect(await until { gate.begun == 3 })
        gate.end(page(10..<20, next: nil), of: 2)
        #expect(list.items.count == 10)
        gate.end(page(100..<103, next: 3), of: 3)
        await refresh.value
        await more.value
        #expect(list.items.map(\.id) == [100, 101, 102])
        #expect(list.hasMore)
        gate.fail(4)
        await list.refresh()
        #expect(list.items.count == 3)
        gate.end(page(0..<1, next: nil), of: 5)
        await list.retry()
        #expect(list.items.map(\.id) == [0])
    }

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @Test("Cancelling keeps the loaded items and shows no error")
    func cancels() async {
        let list = make()
        gate.end(page(0..<10, next: 10), of: 1)
        await list.load()
        let more = Task { await list.loadMore() }
        #expect(await until { gate.begun == 2 })
        list.cancel()
        await more.value
        #expect(list.items.count == 10)
        #expect(list.error == nil)
        #expect(!list.isLoading)
        gate.end(page(10..<11, next: nil), of: 3)
        await list.loadMore()
        #expect(list.items.count == 11)
    }

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @Test("A server that always has more is followed up to the limit")
    func bounded() async {
        let list = make(limit: 3)
        for number in 1...5 { gate.end(page(number..<number + 1, next: number), of: number) }
        await list.load()
        for _ in 0..<5 { await list.loadMore() }
        #expect(list.items.count == 3)
        #expect(!list.hasMore)
    }
}
