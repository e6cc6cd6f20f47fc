// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCurl

extension Trait where Self == ConditionTrait {
    /// Only where the transport finds the OpenSSL that libcurl uses. One inside of libcurl shows no functions: then
    /// there are no pins of a path, no certificates in errors, and it takes itself down when the process ends.
    static var usesKnownOpenSSL: Self {
        .enabled(if: CurlLibrary.current.pathProblem == nil, "this libcurl has a TLS library inside")
    }

    /// Only where libcurl sees that a shared connection has failed. Tried: 8.1.2, 8.4.0 and 8.12.1 do not.
    static var seesBrokenConnections: Self {
        .disabled(
            if: (0x08_00_00..<0x08_10_00).contains(CurlLibrary.current.version),
            "libcurl 8.1 to 8.12 does not see that an HTTP/2 connection has failed; calls wait for their time limits")
    }
}

/// What particular versions of libcurl do otherwise and the transport cannot mend. The reason is printed where it
/// shows.
struct LibraryDeviation {
    /// The versions that may differ, as libcurl counts them.
    let versions: Range<UInt32>
    let reason: Comment

    static let refusedStream = LibraryDeviation(
        versions: 0x08_01_00..<0x08_02_00,
        reason: "libcurl 8.1 tells a stream that the server has refused as data that could not be sent")

    static let cancelledStreams = LibraryDeviation(
        versions: 0x08_10_00..<0x08_11_00,
        reason: "nghttp2 1.67, with libcurl 8.16, ends connections on which much comes for cancelled streams")

    /// Runs `body`, which may fail on these versions only.
    func mayDiffer(_ body: () async throws -> Void) async throws {
        guard versions.contains(CurlLibrary.current.version) else { return try await body() }
        await withKnownIssue(reason, isIntermittent: true) { try await body() }
    }
}
