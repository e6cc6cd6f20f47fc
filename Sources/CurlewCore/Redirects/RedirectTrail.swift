// SPDX-License-Identifier: MIT

import CurlewHTTP

/// The redirects that a call has followed so far.
struct RedirectTrail: Sendable {
    /// The redirects, oldest first.
    private(set) var redirects: [RedirectPolicy.Redirect] = []
    /// Whether a redirect has led to another origin. Never reset.
    private(set) var crossedOrigin: Bool

    init(crossedOrigin: Bool = false) {
        self.crossedOrigin = crossedOrigin
    }

    mutating func append(_ redirect: RedirectPolicy.Redirect) {
        redirects.append(redirect)
        crossedOrigin = crossedOrigin || redirect.leavesOrigin
    }

    /// Returns an error if one more redirect would exceed the limit; nil otherwise. A repeated URL may have a different
    /// response, for example because of a cookie, so only the limit ends a loop (RFC 9110 §15.4).
    func failure(toFollow redirect: RedirectPolicy.Redirect, limit: Int) -> NetworkError? {
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
