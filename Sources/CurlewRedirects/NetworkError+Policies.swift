// SPDX-License-Identifier: MIT

public import CurlewCore

extension NetworkError.Policy {
    /// `RedirectPolicy`: the target of the redirect is not allowed, or the redirect requires a request that cannot be
    /// sent again.
    public static let redirects = NetworkError.Policy(
        "redirects", message: "The server redirected the request without a result.")
}
