// SPDX-License-Identifier: MIT

#if canImport(Darwin)
import os
#else
import Synchronization
#endif

/// The one lock of the package: a value that is only reachable while the lock is held. `LockedField` is the same without an
/// object of its own.
///
/// The critical section never awaits and never calls out to user code. On Linux it is a futex mutex, on Apple
/// platforms the unfair lock (`Mutex` needs a newer minimum there than the package has). The closures of
/// `OSAllocatedUnfairLock` rethrow and return nothing `sending`, so the lock stands here with the value beside it.
package final class Locked<Value>: Sendable {
    #if canImport(Darwin)
    // On the heap, because the lock must keep its address.
    private nonisolated(unsafe) let lock: UnsafeMutablePointer<os_unfair_lock>
    // Touched only while the lock is held.
    private nonisolated(unsafe) var value: Value
    #else
    private let field: LockedField<Value>
    #endif

    package init(_ value: sending Value) {
        #if canImport(Darwin)
        lock = .allocate(capacity: 1)
        lock.initialize(to: os_unfair_lock())
        self.value = value
        #else
        field = LockedField(value)
        #endif
    }

    #if canImport(Darwin)
    deinit {
        lock.deinitialize(count: 1)
        lock.deallocate()
    }
    #endif

    /// Runs `body` with exclusive access to the value. Not recursive.
    package func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        #if canImport(Darwin)
        os_unfair_lock_lock(lock)
        defer { os_unfair_lock_unlock(lock) }
        return try body(&value)
        #else
        return try field.withLock(body)
        #endif
    }
}

/// A `Locked` that is stored in the object that owns it, for objects that are made anew for each call.
///
/// An object of a generic class asks the runtime for the types of its parts when it goes away, which takes more than a
/// thousand instructions.
package struct LockedField<Value>: ~Copyable, Sendable {
    #if canImport(Darwin)
    private let lock: Locked<Value>
    #else
    private let lock: Mutex<Value>
    // The mutex waits inside a library that ThreadSanitizer cannot see into, so a contended hand-over looks like a race
    // to it. This flag shows it the order; it costs a plain load and a plain store on the usual processors.
    private let handedOver = Atomic(false)
    #endif

    package init(_ value: sending Value) {
        #if canImport(Darwin)
        lock = Locked(value)
        #else
        lock = Mutex(value)
        #endif
    }

    /// Runs `body` with exclusive access to the value. Not recursive.
    package func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        #if canImport(Darwin)
        return try lock.withLock(body)
        #else
        return try lock.withLock { (value: inout sending Value) throws(Failure) in
            _ = handedOver.load(ordering: .acquiring)
            defer { handedOver.store(true, ordering: .releasing) }
            return try body(&value)
        }
        #endif
    }
}

extension Locked: CustomReflectable {
    /// Nothing: what a lock guards may be a credential, and is not to be read without it.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
