// SPDX-License-Identifier: MIT

public import CurlewCore

extension Interceptor where Self == BuiltInInterceptor {
    /// Follows redirects: `.redirects()`, `.redirects(.sameOrigin)`. See `RedirectPolicy` for the rules. It is
    /// part of `Pipeline.standard`.
    ///
    /// The interceptors further in run once for each hop, with `context.hop`, `context.redirects` and, after the first
    /// change of origin, `context.crossedOrigin`. The `redirects` of a response contain its hops. Observers are
    /// notified of each hop (`Redirect.Event.followed`), and of each redirect that is not followed, with the reason
    /// (`.kept`).
    ///
    /// The body of a redirect response is read to its end if it has at most 64 KiB and arrives within a second, so that
    /// its connection can be reused. A body that stalls, breaks off or cannot be decoded costs only the connection. All
    /// hops share the total deadline of the call.
    ///
    /// Throws `NetworkError`, with the redirect response in `response`: `.refused(by: .redirects)` for a redirect that
    /// must not be followed, `.limitExceeded(.redirects)` for too many, `.badResponse` for a `Location` that cannot be
    /// parsed. A response without `Location` is not a redirect and is returned to the caller.
    public static func redirects(_ policy: RedirectPolicy = .standard) -> BuiltInInterceptor {
        BuiltInInterceptor(RedirectInterceptor(policy))
    }
}

// Changes the origin, and strips the fields that must not reach another origin.
extension RedirectInterceptor: ScopedInterceptor {}
