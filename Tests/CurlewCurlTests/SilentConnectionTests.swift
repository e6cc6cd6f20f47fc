// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCurl

/// When silent connections are looked at.
@Suite(.timeLimit(.minutes(1)))
struct SilentConnectionTests {
    static let (short, long) = (ForgottenBytes.silence, ForgottenBytes.longSilence)

    @Test("A connection is due after a short silence, and then after each long one")
    func silence() {
        var bytes = ForgottenBytes(isNeeded: true)
        #expect(bytes.nextCheck == .max)
        bytes.insert(7, at: 100)
        #expect(bytes.nextCheck == 100 + Self.short)
        #expect(bytes.takeDue(at: 99 + Self.short) { _ in true } == [])
        #expect(bytes.takeDue(at: 100 + Self.short) { _ in true } == [7])
        #expect(bytes.nextCheck == 100 + Self.short + Self.long)
        #expect(bytes.takeDue(at: bytes.nextCheck) { _ in true } == [7])
    }

    @Test("A connection with traffic is not silent, however much traffic there is elsewhere")
    func stir() {
        var bytes = ForgottenBytes(isNeeded: true)
        bytes.insert(7, at: 0)
        bytes.insert(8, at: 0)
        var due: [Int32] = []
        for moment in 1...20 {
            let now = Int64(moment) * Self.short / 2
            bytes.noteStir(8, at: now)
            due += bytes.takeDue(at: now) { _ in true }
        }
        #expect(due == [7])
    }

    @Test("Other, unread and closed connections are not checked")
    func others() {
        var bytes = ForgottenBytes(isNeeded: true)
        bytes.noteStir(9, at: 0)
        #expect(bytes.nextCheck == .max)
        bytes.insert(7, at: 0)
        #expect(bytes.takeDue(at: Self.long) { _ in false } == [])
        #expect(bytes.nextCheck == .max)
        // It is read from again.
        bytes.noteStir(7, at: Self.long)
        #expect(bytes.nextCheck == Self.long + Self.short)
        bytes.remove(7)
        #expect(bytes.takeDue(at: 2 * Self.long) { _ in true } == [] && bytes.nextCheck == .max)
    }

    static let (patience, sharedPatience) = (SharedConnections.patience, SharedConnections.sharedPatience)

    /// A response on connection 7 is late at each of these moments, of a transfer without progress since the first one.
    private func deaths(
        _ shared: inout SharedConnections, isAlone: Bool = true, since start: Int64, at moments: [Int64]
    ) -> [Bool] {
        moments.map { shared.isDead(7, lateSince: start, isAlone: isAlone, at: $0) }
    }

    @Test("A connection is dead when nothing came while a response was late for long enough")
    func dead() {
        var shared = SharedConnections()
        shared.insert(7, at: 100)
        #expect(deaths(&shared, since: 99, at: [99 + 2 * Self.patience]) == [false], "something came later")
        #expect(deaths(&shared, since: 100, at: [99 + Self.patience, 100 + Self.patience]) == [false, true])
        shared.remove(7)
        #expect(deaths(&shared, since: 100, at: [.max]) == [false], "not one of these")
    }

    @Test("With other transfers on it, a connection gets more time")
    func deadBesideOthers() {
        var shared = SharedConnections()
        shared.insert(7, at: 0)
        let moments = [Self.sharedPatience, Self.sharedPatience + 1]
        #expect(deaths(&shared, isAlone: false, since: 1, at: moments) == [false, true])
    }

    @Test("Short waits add up, until something comes")
    func shortWaits() {
        var shared = SharedConnections()
        shared.insert(7, at: 0)
        let short = Self.patience / 4
        for wait in 0..<3 {
            let start = Int64(wait) * short
            #expect(deaths(&shared, since: start, at: [start + short]) == [false])
        }
        #expect(deaths(&shared, since: 3 * short, at: [4 * short]) == [true])
        shared.noteHeard(7, at: 4 * short)
        #expect(deaths(&shared, since: 4 * short, at: [5 * short]) == [false])
    }
}
