// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCurl

/// When silent connections are looked at.
@Suite(.timeLimit(.minutes(1)))
struct SilentConnectionTests {
    static let (short, long) = (SharedConnections.silence, SharedConnections.longSilence)

    @Test("a connection is due after a short silence, and then after each long one")
    func silence() {
        var shared = SharedConnections()
        #expect(shared.nextLook == .max)
        shared.insert(7, at: 100)
        #expect(shared.nextLook == 100 + Self.short)
        #expect(shared.takeDue(at: 99 + Self.short) { _ in true } == [])
        #expect(shared.takeDue(at: 100 + Self.short) { _ in true } == [7])
        #expect(shared.nextLook == 100 + Self.short + Self.long)
        #expect(shared.takeDue(at: shared.nextLook) { _ in true } == [7])
    }

    @Test("what stirs is not silent, however much stirs elsewhere")
    func stir() {
        var shared = SharedConnections()
        shared.insert(7, at: 0)
        shared.insert(8, at: 0)
        var due: [Int32] = []
        for moment in 1...20 {
            let now = Int64(moment) * Self.short / 2
            shared.noteStir(8, at: now)
            due += shared.takeDue(at: now) { _ in true }
        }
        #expect(due == [7])
    }

    @Test("others, those that nobody reads from, and those that are gone are not looked at")
    func others() {
        var shared = SharedConnections()
        shared.noteStir(9, at: 0)
        #expect(shared.nextLook == .max && shared.count == 0)
        shared.insert(7, at: 0)
        #expect(shared.takeDue(at: Self.long) { _ in false } == [])
        #expect(shared.nextLook == .max)
        // It is read from again.
        shared.noteStir(7, at: Self.long)
        #expect(shared.nextLook == Self.long + Self.short)
        shared.remove(7)
        #expect(shared.takeDue(at: 2 * Self.long) { _ in true } == [] && shared.nextLook == .max)
    }
}
