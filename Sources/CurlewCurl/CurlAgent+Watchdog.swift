// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl
import CurlewCore
#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// When an agent that has work counts as standing still: the decision alone.
///
/// It counts looks and does not measure time. A process that was stopped, or a machine that slept, then costs one look.
struct StallWatch {
    private var turns: UInt64?
    private var count = 0

    /// So many looks in a row without a turn of the agent's.
    static let looks = 4

    /// True if the agent stands still, which is said once.
    mutating func look(turns now: UInt64) -> Bool {
        guard turns == now else {
            turns = now
            count = 0
            return false
        }
        count += 1
        return count == Self.looks
    }
}

/// A second thread that looks at the agent now and then while transfers are in flight, and is gone otherwise.
///
/// The agent's thread may be held by a file on a disk that does not answer. Then nobody
/// would keep deadlines any more. So what waits ends with an error, as do new calls, until the agent goes on. Looking
/// costs a lock four times in each `TransportConfiguration.stallLimit`.
extension CurlAgent {
    func stallError(_ transfer: Transfer) -> NetworkError {
        let limit = configuration.stallLimit ?? .zero
        return NetworkError(
            .timedOut(.engine), detail: "The engine's thread has not moved for \(limit.brief).",
            hint: "A file on a disk that does not answer holds it.",
            request: RequestLine(transfer.request))
    }

    /// A body that somebody may wait for. Called from callbacks.
    func watch(_ pipe: BodyPipe, of transfer: Transfer) {
        guard configuration.stallLimit != nil else { return }
        queue.withLock { _ in transfer.watchedPipe = pipe }
    }

    /// True if there is nothing to do any more. Called under the queue's lock.
    func startWatchdog() -> Bool {
        guard let limit = configuration.stallLimit else { return true }
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        #if canImport(Glibc)
        var thread = pthread_t()
        #else
        var thread: Musl.pthread_t?
        #endif
        let box = Unmanaged.passRetained(Watched(agent: self, pause: limit / StallWatch.looks))
        let code = pthread_create(&thread, &attributes, runWatchdog, box.toOpaque())
        if code != 0 { box.release() }
        return code == 0
    }

    /// One look. False when nothing is in flight, and so nobody watches any more.
    fileprivate func isWorthWatching(_ watch: inout StallWatch) -> Bool {
        let (goesOn, found, stranded) = queue.withLock { [watch] state -> (Bool, StallWatch, [Stranded]) in
            var watch = watch
            guard !state.inFlight.isEmpty else {
                state.isWatched = false
                return (false, watch, [])
            }
            guard watch.look(turns: state.turns) else { return (true, watch, []) }
            state.isStalled = true
            let stranded = state.inFlight.map { Stranded(transfer: $0, pipe: $0.watchedPipe) }
            // For the agent, should it go on.
            state.commands += state.inFlight.map { .cancel($0) }
            return (true, watch, stranded)
        }
        watch = found
        for item in stranded { item.transfer.abandon(stallError(item.transfer), pipe: item.pipe) }
        return goesOn
    }

    private struct Stranded: Sendable {
        let transfer: Transfer
        let pipe: BodyPipe?
    }
}

/// What the watchdog's thread knows: it does not keep the agent alive.
private final class Watched {
    weak var agent: CurlAgent?
    let pause: Duration

    init(agent: CurlAgent, pause: Duration) {
        self.agent = agent
        self.pause = pause
    }
}

private func runWatchdog(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    let watched = Unmanaged<Watched>.fromOpaque(context).takeRetainedValue()
    curlew_name_thread("curlew-watchdog")
    let (seconds, rest) = watched.pause.components
    var watch = StallWatch()
    repeat {
        var pause = timespec(tv_sec: time_t(seconds), tv_nsec: Int(rest / 1_000_000_000))
        // A signal that ends it early costs one look.
        nanosleep(&pause, nil)
    } while watched.agent?.isWorthWatching(&watch) ?? false
    return nil
}
#endif
