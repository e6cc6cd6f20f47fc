// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// The redirects of a call so far, and their effect on the next one.
struct RedirectTrail: Sendable {
    /// The redirects, oldest first.
    private(set) var redirects: [Redirect] = []
    /// Whether a redirect has left an origin. Never reset.
    private(set) var crossedOrigin: Bool

    init(crossedOrigin: Bool = false) {
        self.crossedOrigin = crossedOrigin
    }

    /// Adds a redirect that is followed.
    mutating func append(_ redirect: Redirect) {
        redirects.append(redirect)
        crossedOrigin = crossedOrigin || redirect.leavesOrigin
    }

    /// Returns the error if one more redirect exceeds the limit. A repeated URL may have a different response, because
    /// of a cookie or otherwise, so only the limit ends a loop (RFC 9110 §15.4).
    func failure(toFollow redirect: Redirect, limit: Int) -> NetworkError? {
        guard redirects.count >= max(0, limit) else { return nil }
        let isCircle = redirects.contains { $0.method == redirect.nextMethod && $0.url == redirect.nextURL }
        return NetworkError(
            .limitExceeded(.redirects),
            detail: "More than \(limit) redirects, the last \(redirect)." + (isCircle ? " They form a loop." : ""),
            hint: isCircle
                ? "The server sends the same redirect for the same request. Does it expect a cookie or a credential?"
                : "Raise options.limits.redirects if this number is intended.")
    }
}
