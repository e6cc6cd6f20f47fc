// SPDX-License-Identifier: MIT

#if canImport(Darwin)
package import os
#else
package import Synchronization
#endif

/// A lock with the value that it protects. `LockedField` is the same without a separate object.
///
/// The critical section never awaits and never calls user code. On Linux it is a futex mutex, on Apple platforms the
/// unfair lock (`Mutex` needs a newer minimum there than the package has). The closures of `OSAllocatedUnfairLock`
/// rethrow and return nothing `sending`, so the lock is implemented here together with the value.
///
/// The functions are inlinable: without specialisation in the calling module each use asks the runtime for the metadata
/// of the value's type, which took 15 % of a cache hit.
package final class Locked<Value>: Sendable {
    #if canImport(Darwin)
    // Allocated on the heap, because the lock needs a stable address.
    @usableFromInline nonisolated(unsafe) let lock: UnsafeMutablePointer<os_unfair_lock>
    // Accessed only while the lock is held.
    @usableFromInline nonisolated(unsafe) var value: Value
    #else
    @usableFromInline let field: LockedField<Value>
    #endif

    @inlinable
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
    @inlinable
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

/// A `Locked` that is stored inline in its owner, for objects that are created for each call.
///
/// Deallocating an object of a generic class queries the runtime for the types of its fields, which takes more than a
/// thousand instructions.
package struct LockedField<Value>: ~Copyable, Sendable {
    #if canImport(Darwin)
    @usableFromInline let lock: Locked<Value>
    #else
    @usableFromInline let lock: Mutex<Value>
    // ThreadSanitizer cannot see into the library in which the mutex waits, and reports a contended hand-over as a
    // race. This flag makes the order visible. It costs a plain load and a plain store on common processors.
    @usableFromInline let handedOver = Atomic(false)
    #endif

    @inlinable
    package init(_ value: sending Value) {
        #if canImport(Darwin)
        lock = Locked(value)
        #else
        lock = Mutex(value)
        #endif
    }

    /// Runs `body` with exclusive access to the value. Not recursive.
    @inlinable
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
    /// Shows nothing: the protected value may be a credential, and must not be read without the lock.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
