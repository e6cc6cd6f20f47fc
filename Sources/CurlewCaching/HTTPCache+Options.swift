// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

extension HTTPCache {
    /// The options of a cache: its rules and limits. The defaults suit a private cache, such as that of a browser.
    public struct Options: Sendable {
        /// The names of query items that do not affect the response, such as `fbclid`, or prefixes of names followed by
        /// `*`, such as `utm_*`. Names are compared byte by byte as they appear in the URL. Default none. The request
        /// is sent with these items, but responses are stored, found and removed without them, so the URL of a
        /// `HTTPCache.Removal.target` must omit them.
        public var ignoredQueryItems: [String] = []
        /// Freshness lifetimes for responses whose server specifies none, or an unsuitable one. The first one that
        /// covers a URL applies. Default none.
        public var lifetimes: [HTTPCache.Options.Lifetime] = []
        /// The maximum staleness of a response that is used when the server fails or is unreachable (RFC 5861 §4). If
        /// the response or the request has a longer `stale-if-error`, that applies instead. Default zero. It never
        /// overrides `must-revalidate` and `no-cache`.
        public var staleIfError: Duration = .zero
        /// The maximum number of bytes of a stored body; the store may have a lower limit. Default 8 MiB.
        public var bodyLimit: Int64 = 8 << 20
        /// The time limit of one background revalidation. The call's total timeout applies if it is shorter. Default
        /// one minute.
        public var backgroundTimeout: Duration = .seconds(60)
        /// The timeout for one operation of the store, such as a lookup or the writing of a chunk, within the call's
        /// deadline. After it the call continues without the store. After a lookup that took too long, the request is
        /// sent to the server and its response is not stored. A `HTTPCache.MemoryStore` has no time limit. Default one
        /// second.
        public var lookupTimeout: Duration = .seconds(1)
        /// The time that a call waits for the store to commit, update or remove an entry. A slower store finishes in
        /// the background. Because of this wait, a program that ends after its last call finds the response of that
        /// call in its next run. Default 50 ms.
        public var commitTimeout: Duration = .milliseconds(50)

        /// The maximum number of concurrent background revalidations (`stale-while-revalidate`). Once it is reached,
        /// stale responses are returned without a revalidation.
        var backgroundLimit = 8

        /// Options with the default values.
        public static let standard = HTTPCache.Options()

        /// Creates options with the default values.
        public init() {}

        /// Whether a response with this status may be stored without explicit directives from the server, and then has
        /// a heuristic lifetime (RFC 9110 §15.1).
        static func isHeuristicallyCacheable(_ status: HTTPStatus) -> Bool {
            switch status.code {
            case 200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501: true
            default: false
            }
        }

        /// Whether the cache implements the caching rules of this final status, as `must-understand` requires (RFC 9111
        /// §5.2.2.3).
        static func isUnderstood(_ status: HTTPStatus) -> Bool {
            switch status.code {
            case 302, 303, 307, 400, 403, 500, 502, 503, 504: true
            default: isHeuristicallyCacheable(status)
            }
        }

        /// Whether a response with this status depends on preconditions, ranges or the route to the server. None of
        /// them is a part of the cache key.
        static func dependsOnMore(_ status: HTTPStatus) -> Bool {
            switch status.code {
            case 304, 407, 412, 416, 417, 511: true
            default: false
            }
        }
    }
}

extension HTTPCache.Options {
    /// A freshness lifetime that the app sets for responses whose server specifies none, or an unsuitable one.
    ///
    ///     options.lifetimes = [
    ///         HTTPCache.Options.Lifetime(.seconds(600), under: "https://api.example/films"),
    ///         HTTPCache.Options.Lifetime(.seconds(60), under: "https://legacy.example/", overriding: .lifetime),
    ///     ]
    ///
    /// The lifetime applies to responses with status 200, 203, 204, 300, 301 or 308, and is counted from the time at
    /// which the server generated them. `must-revalidate`, `Vary: *`, the request's directives and the principal still
    /// apply. The fields of the response do not change.
    public struct Lifetime: Hashable, Sendable {
        /// The server's directives that a lifetime overrides.
        @nonexhaustive
        public enum Override: Hashable, Sendable {
            /// Overrides no directive. The lifetime applies only if the server specifies neither a lifetime (`max-age`,
            /// `Expires`) nor `no-cache` nor `no-store`. It replaces the heuristic lifetime, which is based on
            /// `Last-Modified`.
            case nothing
            /// Overrides `max-age`, `Expires` and a `no-cache` without field names. A response with `no-store` is still
            /// not stored.
            case lifetime
            /// Overrides `no-store`, and everything that `lifetime` overrides. The cache stores responses that the
            /// server forbids to store, also on disk if its store is persistent.
            case lifetimeAndNoStore
        }

        /// The freshness lifetime. Fractions of a second are ignored; a negative duration counts as zero.
        let lifetime: Duration
        /// The absolute URL without a query that the lifetime covers, together with the paths below it.
        let scope: String
        private let overriding: Override
        /// The scope in the form of the URLs in the keys of entries; nil if it is not an absolute URL without a query.
        private let prefix: String?

        /// Creates a lifetime for responses from `scope`, an absolute URL without a query, and from the paths below it.
        /// A scope with the path `/films` covers `/films?page=2` and `/films/1`, but not `/filmstars`. Every call of a
        /// client with an invalid scope throws `.configuration`.
        public init(_ lifetime: Duration, under scope: String, overriding: Override = .nothing) {
            self.lifetime = lifetime
            self.scope = scope
            self.overriding = overriding
            let parts = try? URLParts(scope)
            prefix = parts.flatMap {
                $0.target.utf8.contains(UInt8(ascii: "?")) ? nil : $0.origin.description + $0.target
            }
        }

        /// Whether the scope is an absolute URL without a query. A lifetime with another scope covers nothing.
        var isValid: Bool { prefix != nil }

        func covers(_ target: String) -> Bool {
            guard let prefix = prefix?.utf8, target.utf8.starts(with: prefix) else { return false }
            let remainder = target.utf8.dropFirst(prefix.count)
            guard prefix.last != UInt8(ascii: "/"), let next = remainder.first else { return true }
            return next == UInt8(ascii: "/") || next == UInt8(ascii: "?")
        }

        /// Returns the directives with this lifetime in place of those that it overrides; nil if the server's
        /// directives apply unchanged.
        func applied(to control: CacheControl, _ headers: HTTPHeaders) -> CacheControl? {
            var replaced: Set<String> = ["max-age"]
            switch overriding {
            case .nothing:
                let words = ["max-age", "no-cache", "no-store"]
                guard !words.contains(where: control.contains), !headers.contains("Expires") else { return nil }
            case .lifetime:
                guard !control.contains("no-store") else { return nil }
                if control.isUnqualified("no-cache") { replaced.insert("no-cache") }
            case .lifetimeAndNoStore:
                replaced.insert("no-store")
                if control.isUnqualified("no-cache") { replaced.insert("no-cache") }
            }
            return control.maxAge(Int(clamping: max(0, lifetime.components.seconds)), insteadOf: replaced)
        }
    }

    /// Returns the directives of a response with `lifetimes` applied, and whether a lifetime has changed them.
    func control(
        _ headers: HTTPHeaders, _ status: HTTPStatus, at target: String
    ) -> (control: CacheControl, isRuled: Bool) {
        let control = CacheControl(headers)
        guard !lifetimes.isEmpty, [200, 203, 204, 300, 301, 308].contains(status.code),
            let rule = lifetimes.first(where: { $0.covers(target) }), let applied = rule.applied(to: control, headers)
        else { return (control, false) }
        return (applied, true)
    }

    /// Returns the URL under which a response is stored: `url` without the ignored query items.
    func target(of url: String) -> String {
        guard !ignoredQueryItems.isEmpty, let mark = url.utf8.firstIndex(of: UInt8(ascii: "?")) else { return url }
        let items = url.utf8[url.utf8.index(after: mark)...].split(
            separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
        let kept = items.filter { item in !isIgnored(item.prefix { $0 != UInt8(ascii: "=") }) }
        if kept.count == items.count { return url }
        let query = kept.map { String(Substring($0)) }.joined(separator: "&")
        return String(url[..<mark]) + (kept.isEmpty ? "" : "?" + query)
    }

    private func isIgnored(_ name: Substring.UTF8View) -> Bool {
        ignoredQueryItems.contains { pattern in
            let pattern = pattern.utf8
            guard pattern.last == UInt8(ascii: "*") else { return name.elementsEqual(pattern) }
            return name.starts(with: pattern.dropLast())
        }
    }
}
