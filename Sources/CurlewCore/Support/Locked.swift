// SPDX-License-Identifier: MIT

#if canImport(Darwin)
package import os
#else
package import Synchronization
#endif

/// A lock together with the value that it protects. `LockedField` is the same without a separate object.
///
/// Code that holds the lock never awaits and never calls user code. The lock is a futex mutex on Linux and the unfair
/// lock on Apple platforms, where `Mutex` requires newer systems than the package's minimum. `OSAllocatedUnfairLock` is
/// not used, because its closures rethrow and cannot return a `sending` result.
///
/// The functions are inlinable, so that the calling module specialises them. Otherwise each use queries the runtime for
/// the metadata of the value's type, which took 15 % of the time of a cache hit.
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

    /// Runs `body` with exclusive access to the value. Not recursive: `body` must not use the lock again.
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

/// A `Locked` that is stored inline in its owner, for objects that are created for each call. On Apple platforms, it
/// holds a separate `Locked`.
///
/// Inline storage avoids an object of a generic class. Deallocating one queries the runtime for the types of its
/// fields, which takes more than a thousand instructions.
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

    /// Runs `body` with exclusive access to the value. Not recursive: `body` must not use the lock again.
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
    /// A mirror without children: the protected value may be a credential, and must not be read without the lock.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
