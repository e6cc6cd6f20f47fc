// SPDX-License-Identifier: MIT

#if canImport(Darwin)
import os
#else
import Synchronization
#endif

/// The one lock of the package: a value that is only reachable while the lock is held.
///
/// The critical section never awaits and never calls out to user code. On Linux it is a futex mutex, on Apple
/// platforms the unfair lock (`Mutex` needs a newer minimum there than the package has).
package final class Locked<Value>: Sendable {
    #if canImport(Darwin)
    private let lock: OSAllocatedUnfairLock<Value>
    #else
    private let lock: Mutex<Value>
    // The mutex waits inside a library that ThreadSanitizer cannot see into, so a contended hand-over looks like a race
    // to it. This flag shows it the order; it costs a plain load and a plain store on the usual processors.
    private let handedOver = Atomic(false)
    #endif

    package init(_ value: sending Value) {
        #if canImport(Darwin)
        lock = OSAllocatedUnfairLock(uncheckedState: value)
        #else
        lock = Mutex(value)
        #endif
    }

    /// Runs `body` with exclusive access to the value. Not recursive.
    package func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        #if canImport(Darwin)
        return try lock.withLockUnchecked { (value: inout Value) throws(Failure) in try body(&value) }
        #else
        return try lock.withLock { (value: inout sending Value) throws(Failure) in
            _ = handedOver.load(ordering: .acquiring)
            defer { handedOver.store(true, ordering: .releasing) }
            return try body(&value)
        }
        #endif
    }
}
