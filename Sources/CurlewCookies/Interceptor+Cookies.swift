// SPDX-License-Identifier: MIT

public import CurlewCore

extension Interceptor where Self == BuiltInInterceptor {
    /// Sends cookies and stores those that servers set, for the host of each hop (RFC 6265bis). The default store is a
    /// new in-memory store that the client shares with the clients derived from it.
    ///
    /// The interceptor is not part of `Pipeline.standard`: by default, a client keeps no state from one call to the
    /// next.
    ///
    /// - A `Cookie` field of the call is sent unchanged, and no cookies are added to it. After a redirect to another
    ///   origin, the field is removed and the store provides the cookies.
    /// - The cookies from every response are stored, whatever the status, including redirects.
    /// - `SameSite` applies after redirects through another site (another registrable domain, or http instead of
    ///   https).
    /// - A refused cookie does not fail the call; observers are notified of the reason (`CookieStore.Event.refused`).
    public static func cookies(_ store: CookieStore = CookieStore()) -> BuiltInInterceptor {
        BuiltInInterceptor(CookieInterceptor(store))
    }
}
