// SPDX-License-Identifier: MIT

import CurlewUI
import Testing

@Suite(.timeLimit(.minutes(1)))
@MainActor
struct LoadableGroupTests {
    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @Test("A sequence loads one after the other, with the first one's value")
    func sequence() async {
        let question = Gate<Int>()
        let first = Loadable { try await question.work() }
        let avatar = first.then { "avatar of \($0)" }
        async let loading: Void = avatar.load()
        #expect(await until { first.isLoading && avatar.isLoading })
        question.end(7)
        await loading
        #expect(avatar.value == "avatar of 7")
        #expect(first.value == 7)
        await avatar.load()
        #expect(question.begun == 1)
        question.end(8, of: 2)
        await avatar.refresh()
        #expect(avatar.value == "avatar of 8")
    }

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @Test("A failure of the first is the failure of the second, and a retry does both")
    func failedSequence() async {
        let question = Gate<Int>()
        let avatar = Loadable { try await question.work() }.then { "avatar of \($0)" }
        question.fail(1, .status(.notFound))
        await avatar.load()
        #expect(avatar.error?.reason == .status(.notFound))
        question.end(7, of: 2)
        await avatar.retry()
        #expect(avatar.value == "avatar of 7")
    }

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @Test("A cancelled sequence ends the first too")
    func cancelledSequence() async {
        let question = Gate<Int>()
        let first = Loadable { try await question.work() }
        let avatar = first.then { "avatar of \($0)" }
        let task = Task { await avatar.load() }
        #expect(await until { question.begun == 1 })
        task.cancel()
        await task.value
        #expect(await until { question.cancelled == 1 })
        #expect(await until { !first.isLoading })
        #expect(avatar.state.word == "idle")
    }

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @Test("The parts of a group load at once, fail alone, and only failed ones are tried again")
    func group() async {
        let (users, films) = (Gate<Int>(), Gate<String>())
        let first = Loadable { try await users.work() }
        let second = Loadable { try await films.work() }
        let dashboard = LoadableGroup(first, second)
        async let loading: Void = dashboard.load()
        #expect(await until { users.begun == 1 && films.begun == 1 })
        #expect(dashboard.isLoading)
        users.end(3)
        films.fail()
        await loading
        #expect(!dashboard.isLoading)
        #expect(dashboard.error?.reason == .unreachable)
        #expect(first.value == 3)
        films.end("Jaws", of: 2)
        await dashboard.retry()
        #expect(dashboard.error == nil)
        #expect(second.value == "Jaws")
        #expect(users.begun == 1)
    }

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @Test("Cancelling a group ends all its parts")
    func cancelledGroup() async {
        let gates = [Gate<Int>(), Gate<Int>()]
        let parts = gates.map { gate in Loadable { try await gate.work() } }
        let group = LoadableGroup(parts[0], parts[1])
        let task = Task { await group.refresh() }
        #expect(await until { gates.allSatisfy { $0.begun == 1 } })
        group.cancel()
        await task.value
        #expect(await until { gates.allSatisfy { $0.cancelled == 1 } })
        #expect(parts.allSatisfy { $0.state.word == "idle" })
    }
}
