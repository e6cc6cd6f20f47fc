// SPDX-License-Identifier: MIT

import Foundation

/// What work comes to on a thread of its own with this many bytes of stack; nil if it throws.
func onThread<Value: Sendable>(stack: Int, _ work: @escaping @Sendable () throws -> Value) -> Value? {
    let answer = Answer<Value>()
    let thread = Thread { answer.give(try? work()) }
    thread.stackSize = stack
    thread.start()
    return answer.wait()
}

/// Handed from one thread to another once.
private final class Answer<Value: Sendable>: @unchecked Sendable {
    private let isThere = DispatchSemaphore(value: 0)
    private var value: Value?

    func give(_ value: Value?) {
        self.value = value
        isThere.signal()
    }

    func wait() -> Value? {
        isThere.wait()
        return value
    }
}
