// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// What a cache is and how far it goes. The defaults are those of a private cache, as a user agent has one.
public struct CacheRules: Sendable {
    /// Whether answers that the server marks `public` (RFC 9111 §5.2.2.9) are stored once for all principals, also where
    /// the principal is unknown. The server has to name their lifetime as well (`max-age`, `Expires`), and says neither
    /// `no-store` nor `no-cache`, whatever `lifetimes` say; they set no cookies, vary by harmless fields only, and are
    /// a success, a redirect, a 404 or a 410. Default false: a server that says `public` of one user's data would hand
    /// it to the next. Set it for servers that you trust in this, such as those behind a shared cache already.
    public var sharesPublic = false
    /// Items of a query that tell no answers apart: names, byte by byte as they stand in the URL, or the beginnings of names
    /// with `*` behind them, such as `["utm_*", "fbclid"]`. Default none. Requests keep the items; an answer is stored, found
    /// and removed without them, so `CacheSelection.target` has to be given without them too.
    public var ignoredQueryItems: [String] = []
    /// How long answers count as fresh that the app knows better than the server says; the first that covers a URL counts.
    /// Default none.
    public var lifetimes: [CacheLifetime] = []
    /// The part of the time since `Last-Modified` for which an answer counts as fresh when the server names no time
    /// (RFC 9111 §4.2.2). Default a tenth; 0 turns that off.
    public var heuristicFraction = 0.1
    /// The most that this can be. Default one day.
    public var heuristicLimit: Duration = .seconds(86_400)
    /// How long a stale answer may stand in for a server that fails or cannot be reached, besides what the server allows
    /// with `stale-if-error`. Default zero. It never overrules `must-revalidate` and `no-cache`.
    public var staleIfError: Duration = .zero
    /// The most bytes of one body that is kept; the store may take less. Default 8 MiB.
    public var bodyLimit: Int64 = 8 << 20
    /// The most refreshes in the background at a time (`stale-while-revalidate`); beyond it stale answers are served
    /// without one. Default 8.
    public var backgroundLimit = 8
    /// How long one refresh in the background may take, at most the client's total timeout. Default one minute.
    public var backgroundTimeout: Duration = .seconds(60)
    /// How long a call waits for the store to find or open an entry, at most until its deadline; then the server is asked, and
    /// nothing is kept. Default one second.
    public var lookupTimeout: Duration = .seconds(1)
    /// How long a call waits until its response is kept, so that a program that ends after its last call has it in the next
    /// run. A store that takes longer goes on by itself. Default 50 ms.
    public var commitTimeout: Duration = .milliseconds(50)
    /// Fields of answers that hold tags, between commas or blanks; at most 64 tags are read. Default `Cache-Tag` and
    /// `Surrogate-Key`.
    public var tagFields: [HTTPField.Name] = ["Cache-Tag", "Surrogate-Key"]

    /// The defaults.
    public static let standard = CacheRules()

    /// The defaults.
    public init() {}

    /// Statuses that may be kept and whose age may be guessed without a word of the server (RFC 9110 §15.1).
    static func isHeuristicallyCacheable(_ status: HTTPStatus) -> Bool {
        switch status.code {
        case 200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501: true
        default: false
        }
    }

    /// Final statuses whose rules for caches are known and kept, for `must-understand` (RFC 9111 §5.2.2.3).
    static func isUnderstood(_ status: HTTPStatus) -> Bool {
        switch status.code {
        case 302, 303, 307, 400, 403, 500, 502, 503, 504: true
        default: isHeuristicallyCacheable(status)
        }
    }

    /// Answers that depend on preconditions, ranges or the way to the server, which are no part of the key.
    static func dependsOnMore(_ status: HTTPStatus) -> Bool {
        switch status.code {
        case 304, 407, 412, 416, 417, 511: true
        default: false
        }
    }
}
