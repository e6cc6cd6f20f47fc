// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl

/// Older versions give each name lookup a thread. libcurl 8.23.0 has twenty for all lookups of a multi handle, unless it is
/// told otherwise: a few names whose servers do not answer then keep all others waiting. Older versions do not know these
/// options; they came with 8.20.0 or so, and headers that know them are not needed.
enum ResolverThreads {
    private static let (resolveThreadsMax, quickExit) = (CURLMoption(rawValue: 20), CURLMoption(rawValue: 21))

    /// More threads than calls at a time; they are made when they are needed.
    private static let lookupThreads = 2048

    /// Lets lookups go on beside each other, and does not wait for them when the handle goes.
    static func allow(in multi: UnsafeMutableRawPointer) {
        guard CurlLibrary.current.version >= 0x08_11_00 else { return }
        curlew_multi_set_long(multi, Self.resolveThreadsMax, Self.lookupThreads)
        curlew_multi_set_long(multi, Self.quickExit, 1)
    }
}
#endif
