// SPDX-License-Identifier: MIT

package import CurlewHTTP

extension HTTPStatus {
    /// Whether this is the status of a redirect or a challenge: only the response head matters, and the body may be
    /// incomplete. Transports return such a response without waiting for its body, so a body that stalls or breaks off
    /// does not delay the call.
    package var isPrelude: Bool {
        switch code {
        case 301, 302, 303, 307, 308, 401, 407: true
        default: false
        }
    }
}
