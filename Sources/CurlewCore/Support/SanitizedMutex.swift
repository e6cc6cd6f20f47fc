// SPDX-License-Identifier: MIT

#if CURLEW_SANITIZED

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Takes the place of the standard library's `Mutex` in builds for ThreadSanitizer, which `Scripts/test` makes.
///
/// On Linux that one waits in a futex call which the sanitizer does not see, so that every contended use is reported as
/// a race. A pthread mutex is seen. Only `Locked` uses this, and only in such builds.
struct Mutex<Value>: ~Copyable, @unchecked Sendable {
    // The value is only touched between lock and unlock; both pointers live as long as the lock.
    private let handle: UnsafeMutablePointer<pthread_mutex_t>
    private let value: UnsafeMutablePointer<Value>

    init(_ initial: consuming sending Value) {
        handle = .allocate(capacity: 1)
        handle.initialize(to: pthread_mutex_t())
        pthread_mutex_init(handle, nil)
        value = .allocate(capacity: 1)
        value.initialize(to: initial)
    }

    deinit {
        value.deinitialize(count: 1)
        value.deallocate()
        pthread_mutex_destroy(handle)
        handle.deinitialize(count: 1)
        handle.deallocate()
    }

    borrowing func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(handle)
        defer { pthread_mutex_unlock(handle) }
        return try body(&value.pointee)
    }
}

#endif
