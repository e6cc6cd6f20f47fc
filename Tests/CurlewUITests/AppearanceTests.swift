// SPDX-License-Identifier: MIT

import CurlewUI
import Testing

/// What SwiftUI does with a group of views, one for each part of the state, that all have the same task: it starts the
/// task of a view that appears, and cancels that of one that disappears.
@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
@MainActor
private final class ShownGroup {
    private let loadable: Loadable<String>
    private var tasks: [String: Task<Void, Never>] = [:]
    private(set) var appearances = 0

    init(_ loadable: Loadable<String>) {
        self.loadable = loadable
    }

    var parts: Set<String> {
        var parts: Set<String> = []
        if loadable.error != nil { parts.insert("failure") }
        if loadable.value != nil { parts.insert("value") }
        if loadable.state.isWaiting { parts.insert("progress") }
        return parts
    }

    /// Updates what is shown, and lets everything run that can, for many turns.
    func run() async {
        for _ in 0..<500 {
            let parts = parts
            for (part, task) in tasks where !parts.contains(part) {
                task.cancel()
                tasks[part] = nil
            }
            for part in parts where tasks[part] == nil {
                appearances += 1
                tasks[part] = Task { [loadable] in await loadable.appeared() }
            }
            await Task.yield()
        }
    }

    /// The whole disappears.
    func leave() {
        for task in tasks.values { task.cancel() }
        tasks = [:]
    }
}

@Suite(.timeLimit(.minutes(1)))
@MainActor
struct AppearanceTests {
    let gate = Gate<String>()

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    private func make() -> Loadable<String> {
        Loadable { [gate] in try await gate.work() }
    }

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @Test("After a failure nothing is loaded until a caller asks, and then once")
    func failure() async {
        let user = make()
        for number in 1...100 { gate.fail(number) }
        let view = ShownGroup(user)
        await view.run()
        #expect(gate.begun == 1)
        #expect(view.parts == ["failure"])
        let retry = Task { await user.retry() }
        await view.run()
        await retry.value
        #expect(gate.begun == 2)
        #expect(view.parts == ["failure"])
        #expect(view.appearances >= 2)
    }

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @Test("After a refresh that failed nothing is loaded, and the value stays the same view")
    func failedRefresh() async {
        let user = make()
        gate.end("Emily", of: 1)
        for number in 2...100 { gate.fail(number) }
        let view = ShownGroup(user)
        await view.run()
        #expect(view.parts == ["value"])
        let before = view.appearances
        await user.refresh()
        await view.run()
        #expect(gate.begun == 2)
        #expect(view.parts == ["failure", "value"])
        #expect(view.appearances == before + 1, "the failure has appeared, the value has not gone and come again")
    }

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @Test("A view that returns does not repeat a failed load, but repeats a dropped one")
    func comesBack() async {
        let user = make()
        let view = ShownGroup(user)
        await view.run()
        #expect(gate.begun == 1)
        view.leave()
        #expect(await until { gate.cancelled == 1 && user.state.word == "idle" })
        gate.fail(2)
        await view.run()
        #expect(gate.begun == 2)
        view.leave()
        await view.run()
        #expect(gate.begun == 2)
        #expect(view.parts == ["failure"])
    }

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @Test("A list that failed on its first page waits for a request to reload, too")
    func list() async {
        let gate = Gate<Page<Numbered, Int>>()
        let list = PagedLoadable<Numbered, Int> { _ in try await gate.work() }
        gate.fail(1)
        gate.end(Page(items: [Numbered(id: 1)], next: nil), of: 2)
        await list.appeared()
        await list.appeared()
        #expect(gate.begun == 1)
        await list.retry()
        await list.appeared()
        #expect(gate.begun == 2)
        #expect(list.items.count == 1)
    }

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @Test("Of a group, the failed parts are left alone, and the others are loaded")
    func group() async {
        let (failing, idle) = (make(), Gate<String>())
        gate.fail(1)
        await failing.load()
        idle.end("there")
        let other = Loadable { try await idle.work() }
        await LoadableGroup(failing, other).appeared()
        #expect(gate.begun == 1)
        #expect(other.value == "there")
    }
}

private struct Numbered: Identifiable {
    let id: Int
}
