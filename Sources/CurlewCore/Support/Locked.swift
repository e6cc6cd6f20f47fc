// SPDX-License-Identifier: MIT

#if canImport(Darwin)
import os
#else
import Synchronization
#endif

/// A lock together with the value that it protects. `LockedField` is the same without a separate object.
///
/// Code that holds the lock never awaits and never calls user code. The lock is a futex mutex on Linux and the unfair
/// lock on Apple platforms, where `Mutex` requires newer systems than the package's minimum. `OSAllocatedUnfairLock` is
/// not used, because its closures rethrow and cannot return a `sending` result.
///
/// `package` functions are not specialized in other modules, so the lock does not depend on the type of the value: a
/// generic lock queries the runtime for its own type at each use, which took 17 % of the instructions of a small GET.
package final class Locked<Value>: Sendable {
    #if canImport(Darwin)
    // Allocated on the heap, because the lock needs a stable address.
    private nonisolated(unsafe) let lock: UnsafeMutablePointer<os_unfair_lock>
    #else
    private let lock = Mutex(())
    private let handedOver = HandOver()
    #endif
    // Accessed only while the lock is held, so the accesses never overlap.
    @exclusivity(unchecked) private nonisolated(unsafe) var value: Value

    package init(_ value: sending Value) {
        #if canImport(Darwin)
        lock = .allocate(capacity: 1)
        lock.initialize(to: os_unfair_lock())
        #endif
        self.value = value
    }

    #if canImport(Darwin)
    deinit {
        lock.deinitialize(count: 1)
        lock.deallocate()
    }
    #endif

    /// Runs `body` with exclusive access to the value. Not recursive: `body` must not use the lock again.
    package func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        #if canImport(Darwin)
        os_unfair_lock_lock(lock)
        defer { os_unfair_lock_unlock(lock) }
        return try body(&value)
        #else
        return try lock.withLock { _ throws(Failure) in
            handedOver.acquire()
            defer { handedOver.release() }
            return try body(&value)
        }
        #endif
    }
}

#if !canImport(Darwin)
/// Shows ThreadSanitizer the order in which threads hold a lock. It cannot see into the library in which a mutex waits,
/// and reports a contended hand-over as a race. The flag costs a plain load and a plain store on common processors.
struct HandOver: ~Copyable {
    private let flag = Atomic(false)

    func acquire() { _ = flag.load(ordering: .acquiring) }
    func release() { flag.store(true, ordering: .releasing) }
}
#endif

/// A `Locked` that is stored inline in its owner, for objects of this module that are created for each call. On Apple
/// platforms, it holds a separate `Locked`.
///
/// Inline storage avoids an object of a generic class. Deallocating one queries the runtime for the types of its
/// fields, which takes more than a thousand instructions. Other modules use `Locked`, which is much faster there.
struct LockedField<Value>: ~Copyable, Sendable {
    #if canImport(Darwin)
    private let lock: Locked<Value>
    #else
    private let lock: Mutex<Value>
    private let handedOver = HandOver()
    #endif

    init(_ value: consuming sending Value) {
        #if canImport(Darwin)
        lock = Locked(value)
        #else
        lock = Mutex(value)
        #endif
    }

    /// Runs `body` with exclusive access to the value. Not recursive: `body` must not use the lock again.
    func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        #if canImport(Darwin)
        return try lock.withLock(body)
        #else
        return try lock.withLock { (value: inout sending Value) throws(Failure) in
            handedOver.acquire()
            defer { handedOver.release() }
            return try body(&value)
        }
        #endif
    }
}

/// The value of a lock that protects something else, such as a file.
///
/// `Void` would not do: a value without a size has no address of its own, and ThreadSanitizer takes its accesses for
/// those of the lock's object.
package struct NoValue: Sendable {
    private var byte: UInt8 = 0

    package init() {}
}

/// A type with a lock. The value that the lock protects may be a credential, and must not be read without the lock.
protocol MirroredWithoutValue: CustomReflectable {}

extension MirroredWithoutValue {
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Locked: MirroredWithoutValue {}
extension Monitor: MirroredWithoutValue {}
