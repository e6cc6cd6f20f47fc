// SPDX-License-Identifier: MIT

import CurlewFoundation

/// Detached threads with small stacks. Blocking them does not block Swift's cooperative threads.
enum ServerThread {
    /// Runs `body` on a new thread. Returns `false` if the system has no free thread.
    static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        var attributes = pthread_attr_t()
        guard pthread_attr_init(&attributes) == 0 else { return false }
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        pthread_attr_setstacksize(&attributes, stackSize)
        let work = Unmanaged.passRetained(Work(body))
        #if (os(Linux) && canImport(Glibc)) || canImport(Android)
        var thread = pthread_t()
        #else
        var thread: pthread_t?
        #endif
        let result = pthread_create(&thread, &attributes, { ServerThread.run($0) }, work.toOpaque())
        if result != 0 { work.release() }
        return result == 0
    }

    /// The identifier of the current thread, unique while the thread runs.
    static var currentID: UInt {
        #if os(Linux) && canImport(Glibc)
        UInt(pthread_self())
        #else
        UInt(bitPattern: pthread_self())
        #endif
    }

    /// The stack size in bytes. Handlers encode JSON on this stack. 512 threads reserve 256 MiB of address space, but
    /// use little of it.
    private static let stackSize = 512 * 1024

    private static func run(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        if let argument { Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body() }
        return nil
    }

    private final class Work: Sendable {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}
