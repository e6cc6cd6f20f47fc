// SPDX-License-Identifier: MIT

#if canImport(Darwin)
import Foundation
#else
import Synchronization
#endif

/// A value that several threads share under a lock. `Mutex` needs newer systems of Apple's than the examples do.
final class Locked<Value: Sendable>: Sendable {
    #if canImport(Darwin)
    private let lock = NSLock()
    #else
    private let lock = Mutex(())
    #endif
    // Accessed only while the lock is held.
    private nonisolated(unsafe) var value: Value

    init(_ value: Value) {
        self.value = value
    }

    func withLock<Result: Sendable>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        #if canImport(Darwin)
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
        #else
        return try lock.withLock { _ in try body(&value) }
        #endif
    }
}
