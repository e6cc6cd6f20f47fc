// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCaching
@testable import CurlewCookies
@testable import CurlewCore

/// A cookie of a response is given out once, and is no part of what is kept on the disk.
@Suite(.timeLimit(.minutes(1)))
struct StoredCookieTests {
    @Test("Set-Cookie is not stored")
    func setCookie() {
        let headers: HTTPHeaders = [.setCookie: "sid=hunter2", "X-Kept": "1", .date: "Mon, 01 Jan 2024 00:00:00 GMT"]
        let kept = CacheFields.storable(
            headers, CacheControl(headers), receivedAt: Date(timeIntervalSince1970: 1_704_067_200))
        #expect(!kept.contains(.setCookie) && kept.contains("X-Kept"))
    }
}
