// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl
import CurlewCore
import CurlewHTTP

/// A check that detects whether a transport is used in a forked child of the process that created it.
///
/// A forked child has the transport's memory but not its threads, and shares its connections with the parent. Data that
/// the child sends would mix with the parent's data, and a response could reach the wrong process. So in a child, every
/// use of the transport ends before it touches libcurl or a lock, which another thread of the parent may have held at
/// the fork. Children that run another program (`posix_spawn`, `exec`) are not affected.
///
/// The check costs one memory load: a fork handler counts the forks, so no system call for the process ID is needed.
struct HomeProcess: Sendable {
    private let forks: UInt32

    init() {
        curlew_watch_forks()
        forks = curlew_fork_count()
    }

    /// Whether the current process created this value; false in a forked child.
    var isHere: Bool { curlew_fork_count() == forks }

    /// Returns the error for a transport that is used in a forked child.
    static func error(_ request: HTTPRequest?) -> NetworkError {
        NetworkError(
            .configuration,
            detail:
                "The transport belongs to the process that forked this one; here it has neither a thread nor "
                + "connections.",
            hint: "Create a CurlTransport after the fork, or start other programs with posix_spawn.",
            request: request.map { NetworkError.RequestLine($0) })
    }
}
#endif
