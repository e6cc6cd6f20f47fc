// SPDX-License-Identifier: MIT

package import CurlewHTTP

extension HTTPStatus {
    /// A redirect or a challenge: what counts is the head, and the body may be no good. Engines hand over such a response
    /// without waiting for its body, so that one that stalls or breaks off keeps nobody from going on.
    package var isPrelude: Bool {
        switch code {
        case 301, 302, 303, 307, 308, 401, 407: true
        default: false
        }
    }
}
