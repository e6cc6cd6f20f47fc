// SPDX-License-Identifier: MIT

import CurlewHTTP

/// How a call came to where it is: its redirects so far, and what they mean for the next one.
struct RedirectTrail: Sendable {
    /// Oldest first.
    private(set) var redirects: [Redirect] = []
    /// True once a redirect has left an origin; it stays true.
    private(set) var crossedOrigin: Bool

    init(crossedOrigin: Bool = false) {
        self.crossedOrigin = crossedOrigin
    }

    /// Notes a redirect that is followed.
    mutating func append(_ redirect: Redirect) {
        redirects.append(redirect)
        crossedOrigin = crossedOrigin || redirect.leavesOrigin
    }

    /// Why one more redirect is one too many. A URL that was asked before may answer differently the next time, by a cookie
    /// or by itself, so only the limit ends a circle (RFC 9110 §15.4).
    func failure(toFollow redirect: Redirect, limit: Int) -> NetworkError? {
        guard redirects.count >= max(0, limit) else { return nil }
        let isCircle = redirects.contains { $0.method == redirect.nextMethod && $0.url == redirect.nextURL }
        return NetworkError(
            .limitExceeded(.redirects),
            detail: "More than \(limit) redirects, at last \(redirect)." + (isCircle ? " They go in a circle." : ""),
            hint: isCircle
                ? "The server answers the same request with the same redirect. Does it expect a cookie or a credential?"
                : "Raise options.limits.redirects if so many are meant.")
    }
}
