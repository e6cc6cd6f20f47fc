// SPDX-License-Identifier: MIT

import CurlewHTTP

extension RedirectPolicy {
    /// A decision about a redirect. Observers receive it as `ExchangeEvent.feature`.
    @nonexhaustive
    public enum Event: ExchangeEvent.Feature {
        /// The redirect is followed. Later events belong to the next hop.
        case followed(RedirectPolicy.Redirect)
        /// The redirect is not followed, and its response is returned to the caller. `because` is the reason, in one
        /// redacted sentence.
        case kept(HTTPResponse, because: String)

        /// The name of the kind of event: `redirect.followed` or `redirect.kept`.
        public var name: String {
            switch self {
            case .followed: "redirect.followed"
            case .kept: "redirect.kept"
            }
        }

        /// One line: the redirect, or the status and the reason.
        public var description: String {
            switch self {
            case .followed(let redirect): "\(redirect)"
            case .kept(let response, let reason): "\(response.status.code) is returned: \(reason)".printable
            }
        }
    }
}
