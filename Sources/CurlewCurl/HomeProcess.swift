// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl
import CurlewCore
import CurlewHTTP

/// The process that an engine belongs to.
///
/// A forked child has the engine's memory but not its thread, and shares its connections with the parent: what it sent
/// would mix with the parent's bytes, and an answer could reach the wrong process. So in a child every use ends before
/// it touches a lock (which another thread of the parent may have held at the fork) or libcurl. Children that run
/// another program (`posix_spawn`, `exec`) are not concerned.
///
/// Asking costs one load: the C library announces a fork, so the process's number need not be asked of the system.
struct HomeProcess: Sendable {
    private let forks: UInt32

    init() {
        curlew_watch_forks()
        forks = curlew_fork_count()
    }

    /// False in a child that was forked after this value was made.
    var isHere: Bool { curlew_fork_count() == forks }

    /// What a use in a child throws.
    static func error(_ request: HTTPRequest?) -> NetworkError {
        NetworkError(
            .configuration,
            detail: "The engine belongs to the process that this one was forked from; here it has neither a thread nor "
                + "connections of its own.",
            hint: "Make a CurlTransport after the fork, or start other programs with posix_spawn.",
            request: request.map { RequestLine($0) })
    }
}
#endif
