// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCurl

/// What particular versions of libcurl do otherwise and the engine cannot mend. The reason is printed where it shows.
struct LibraryDeviation {
    /// The versions that may differ, as libcurl counts them.
    let versions: Range<UInt32>
    let reason: Comment

    /// 8.16.0 reads it as a space, 8.23.0 refuses it. RFC 9112 §2.2 allows both.
    static let bareCR = LibraryDeviation(
        versions: 0x08_11_00..<0x10_00_00,
        reason: "libcurl 8.23.0 refuses a response with a CR inside of a field as `.badResponse`")

    /// Runs `body`, which may fail on these versions only.
    func mayDiffer(_ body: () async throws -> Void) async throws {
        guard versions.contains(CurlLibrary.current.version) else { return try await body() }
        await withKnownIssue(reason, isIntermittent: true) { try await body() }
    }
}
