// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

extension HTTPCache.Options {
    /// A freshness lifetime that the app sets for responses whose server specifies none, or an unsuitable one.
    ///
    ///     rules.lifetimes = [
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
                guard !words.contains(where: control.contains), !headers.contains(.expires) else { return nil }
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
}

extension HTTPCache.Options {
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
