// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl
import CurlewCore
import CurlewHTTP

/// The process that a transport belongs to.
///
/// A forked child has the transport's memory but not its threads, and shares its connections with the parent: data that
/// it sends would mix with that of the parent, and a response could reach the wrong process. So in a child every use
/// ends before it touches a lock (which another thread of the parent may have held at the fork) or libcurl. Children
/// that run another program (`posix_spawn`, `exec`) are not affected.
///
/// The check costs one load: the C library reports a fork, so no system call for the process ID is needed.
struct HomeProcess: Sendable {
    private let forks: UInt32

    init() {
        curlew_watch_forks()
        forks = curlew_fork_count()
    }

    /// Whether this is the process that created the value. False in a forked child.
    var isHere: Bool { curlew_fork_count() == forks }

    /// Returns the error for a use in a child.
    static func error(_ request: HTTPRequest?) -> NetworkError {
        NetworkError(
            .configuration,
            detail:
                "The transport belongs to the process that forked this one; here it has neither a thread nor "
                + "connections.",
            hint: "Create a CurlTransport after the fork, or start other programs with posix_spawn.",
            request: request.map { RequestLine($0) })
    }
}
#endif
