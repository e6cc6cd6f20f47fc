// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewURLSession

/// A task that URLSession counts suspensions of never stands still forever.
@Suite(.timeLimit(.minutes(1)))
struct TaskOrdersTests {
    @Test("Each suspension gets one resumption, whatever comes in between")
    func balance() {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<1000 {
            var orders = TaskOrders()
            var (suspensions, wants) = (0, false)
            for _ in 0..<20 {
                wants = Bool.random(using: &random)
                // Several turns of the queue may see the same wish, and some wishes are seen by none.
                for _ in 0..<Int.random(in: 0...3, using: &random) {
                    switch orders.next(wantsEnd: false, wantsSuspension: wants) {
                    case .suspend?: suspensions += 1
                    case .resume?: suspensions -= 1
                    case .cancel?: Issue.record("the end was not requested")
                    case nil: break
                    }
                    #expect(suspensions == (wants ? 1 : 0), "seed \(seed)")
                }
            }
        }
    }

    @Test("The end comes once, and nothing after it")
    func end() {
        var orders = TaskOrders()
        #expect(orders.next(wantsEnd: false, wantsSuspension: true) == .suspend)
        #expect(orders.next(wantsEnd: true, wantsSuspension: true) == .cancel)
        #expect(orders.next(wantsEnd: true, wantsSuspension: false) == nil)
        #expect(orders.next(wantsEnd: false, wantsSuspension: false) == nil)
    }
}
