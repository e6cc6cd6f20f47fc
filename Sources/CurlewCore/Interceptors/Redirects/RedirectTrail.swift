// SPDX-License-Identifier: MIT

import CurlewHTTP

/// How a call came to where it is: its redirects so far, and what they mean for the next one.
struct RedirectTrail: Sendable {
    /// Oldest first.
    private(set) var redirects: [Redirect] = []
    /// True once a redirect has left an origin; it stays true.
    private(set) var crossedOrigin: Bool

    /// What was asked since the server last changed a cookie. Asked again without credentials it is another question.
    private var asked: Set<Question> = []

    private struct Question: Hashable {
        let method: HTTPMethod
        let url: String
        let isStripped: Bool
    }

    init(crossedOrigin: Bool = false) {
        self.crossedOrigin = crossedOrigin
    }

    /// Notes a redirect that is followed.
    ///
    /// - `setsCookie`: the answer did. Servers that test for cookies redirect to the same URL, and mean it.
    mutating func append(_ redirect: Redirect, setsCookie: Bool) {
        if setsCookie { asked = [] } else { asked.insert(question(redirect.method, redirect.url)) }
        redirects.append(redirect)
        crossedOrigin = crossedOrigin || redirect.leavesOrigin
    }

    /// Why one more redirect is one too many.
    func failure(toFollow redirect: Redirect, setsCookie: Bool = false, limit: Int) -> NetworkError? {
        guard redirects.count < max(0, limit) else {
            return NetworkError(
                .limitExceeded(.redirects), detail: "More than \(limit) redirects, at last \(redirect).",
                hint: "Raise options.limits.redirects if so many are meant.")
        }
        var trail = self
        trail.append(redirect, setsCookie: setsCookie)
        guard trail.asked.contains(trail.question(redirect.nextMethod, redirect.nextURL)) else { return nil }
        return NetworkError(
            .limitExceeded(.redirects), detail: "The redirects go in a circle: \(redirect).",
            hint: "The server answers the same request with the same redirect. Does it expect a cookie or a credential?"
        )
    }

    private func question(_ method: HTTPMethod, _ url: String) -> Question {
        Question(method: method, url: url, isStripped: crossedOrigin)
    }
}
