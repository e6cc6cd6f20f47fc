// SPDX-License-Identifier: MIT

public import CurlewCore

extension NetworkError.Policy {
    /// The policy of `.redirects()`. It refuses a redirect if its target is not allowed, or if it requires a body that
    /// cannot be sent again.
    public static let redirects = NetworkError.Policy(
        "redirects", message: "The server redirected the request without a result.")
}
