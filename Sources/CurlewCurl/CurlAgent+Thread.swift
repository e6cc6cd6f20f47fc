// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl
import CurlewCore
#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

extension CurlAgent {
    /// The numbers of the last turn.
    var snapshot: TransportSnapshot {
        home.isHere ? queue.withLock { $0.snapshot } : TransportSnapshot()
    }

    /// Starts the agent's thread. False when the system gives no thread or no descriptor.
    func startThread() -> Bool {
        guard queue.descriptor >= 0 else { return false }
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        #if canImport(Glibc)
        var thread = pthread_t()
        #else
        var thread: Musl.pthread_t?
        #endif
        let box = Unmanaged.passRetained(self)
        let code = pthread_create(&thread, &attributes, runAgent, box.toOpaque())
        if code != 0 { box.release() }
        return code == 0
    }
}

/// Entry of the agent's thread. The box keeps the agent alive until its loop has ended.
private func runAgent(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    Unmanaged<CurlAgent>.fromOpaque(context).takeRetainedValue().run()
    return nil
}
#endif
