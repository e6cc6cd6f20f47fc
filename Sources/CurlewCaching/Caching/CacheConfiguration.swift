// SPDX-License-Identifier: MIT

import CurlewCore
public import CurlewHTTP

/// The rules and limits of a cache. The defaults are those of the private cache of a user agent.
public struct CacheConfiguration: Sendable {
    /// Whether responses that the server marks `public` (RFC 9111 §5.2.2.9) are stored once for all principals, even
    /// where the principal is unknown. The server must also specify their lifetime (`max-age`, `Expires`) and must send
    /// neither `no-store` nor `no-cache`, whatever `lifetimes` specifies. They must set no cookies, vary only by
    /// harmless fields, and be a success, a redirect, a 404 or a 410. Default false: if a server marks one user's data
    /// `public`, other users receive it. Enable it for servers that you trust in this respect, such as those that are
    /// already behind a shared cache.
    public var sharesPublic = false
    /// Query items that do not affect the response: their names, compared byte by byte as they appear in the URL, or
    /// prefixes followed by `*`, such as `["utm_*", "fbclid"]`. Default none. Requests keep these items; responses are
    /// stored, found and removed without them, so a `CacheRemoval.target` must omit them too.
    public var ignoredQueryItems: [String] = []
    /// Freshness lifetimes that the app knows better than the server. The first that covers a URL applies. Default
    /// none.
    public var lifetimes: [CacheConfiguration.Lifetime] = []
    /// The fraction of the time since `Last-Modified` for which a response is fresh when the server specifies no
    /// lifetime (RFC 9111 §4.2.2). Default 0.1; 0 disables heuristic freshness.
    public var heuristicFraction = 0.1
    /// The maximum heuristic lifetime. Default one day.
    public var heuristicLimit: Duration = .seconds(86_400)
    /// How long a stale response may be used when the server fails or cannot be reached, in addition to what the server
    /// allows with `stale-if-error`. Default zero. It never overrides `must-revalidate` and `no-cache`.
    public var staleIfError: Duration = .zero
    /// The maximum number of bytes of a stored body; the store may have a lower limit. Default 8 MiB.
    public var bodyLimit: Int64 = 8 << 20
    /// The maximum number of concurrent background refreshes (`stale-while-revalidate`); beyond it stale responses are
    /// served without a refresh. Default 8.
    public var backgroundLimit = 8
    /// The time limit of one background refresh, at most the client's total timeout. Default one minute.
    public var backgroundTimeout: Duration = .seconds(60)
    /// How long a call waits for the store to find or open an entry, at most until its deadline. After that the server
    /// is asked, and nothing is stored. Default one second.
    public var lookupTimeout: Duration = .seconds(1)
    /// How long a call waits until its response is stored, so that a program that ends after its last call finds it in
    /// the next run. A slower store finishes in the background. Default 50 ms.
    public var commitTimeout: Duration = .milliseconds(50)
    /// Response fields that contain tags, separated by commas or blanks; at most 64 tags are read. Default `Cache-Tag`
    /// and `Surrogate-Key`.
    public var tagFields: [HTTPField.Name] = ["Cache-Tag", "Surrogate-Key"]

    /// The default rules.
    public static let standard = CacheConfiguration()

    /// Creates the default rules.
    public init() {}

    /// Whether responses with this status may be stored, and have a heuristic lifetime, without explicit directives of
    /// the server (RFC 9110 §15.1).
    static func isHeuristicallyCacheable(_ status: HTTPStatus) -> Bool {
        switch status.code {
        case 200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501: true
        default: false
        }
    }

    /// Whether the cache implements the caching rules of this final status, for `must-understand` (RFC 9111 §5.2.2.3).
    static func isUnderstood(_ status: HTTPStatus) -> Bool {
        switch status.code {
        case 302, 303, 307, 400, 403, 500, 502, 503, 504: true
        default: isHeuristicallyCacheable(status)
        }
    }

    /// Whether responses with this status depend on preconditions, ranges or the route to the server, which are not a
    /// part of the key.
    static func dependsOnMore(_ status: HTTPStatus) -> Bool {
        switch status.code {
        case 304, 407, 412, 416, 417, 511: true
        default: false
        }
    }
}
