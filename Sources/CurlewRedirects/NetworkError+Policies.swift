// SPDX-License-Identifier: MIT

public import CurlewCore

extension NetworkError.Policy {
    /// The policy of `.redirects()`. It refuses a redirect whose target is not allowed, or which requires a body that
    /// cannot be sent again.
    public static let redirects = NetworkError.Policy(
        "redirects", message: "The server redirected the request without a result.")
}
