// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

extension CacheConfiguration {
    /// A freshness lifetime that the app assigns to responses of an API whose server does not specify a suitable one.
    ///
    ///     rules.lifetimes = [
    ///         CacheConfiguration.Lifetime(.seconds(600), under: "https://api.example/films"),
    ///         CacheConfiguration.Lifetime(.seconds(60), under: "https://legacy.example/", overriding: .lifetime),
    ///     ]
    ///
    /// It applies to successes and redirects that may be stored without explicit directives of the server (200, 203,
    /// 204, 300, 301, 308), and is counted from the time at which the server generated them. `must-revalidate`,
    /// `Vary: *`, the request's directives and the principal still apply. The stored fields remain those of the server.
    public struct Lifetime: Hashable, Sendable {
        /// The server's directives that a lifetime overrides.
        @nonexhaustive
        public enum Override: Hashable, Sendable {
            /// None: the lifetime applies where the server specifies neither a lifetime (`max-age`, `Expires`) nor
            /// `no-cache` nor `no-store`, in place of the heuristic lifetime based on `Last-Modified`.
            case nothing
            /// `max-age`, `Expires` and a `no-cache` without field names.
            case lifetime
            /// The same and `no-store`: responses that the server forbids to store are stored, also on disk if the
            /// store is there.
            case lifetimeAndNoStore
        }

        /// How long a response is fresh, in whole seconds.
        public var lifetime: Duration
        /// The URL prefix that the lifetime covers: a URL and the paths below it.
        public let scope: String
        /// The server's directives that the lifetime overrides.
        public var overriding: Override
        /// The scope in the form used in the keys of entries; nil if it is not a URL.
        private let prefix: String?

        /// Creates a lifetime for `scope`, an absolute URL without a query: its origin and path, and the paths below
        /// it. `/films` covers `/films?page=2` and `/films/1`, not `/filmstars`.
        public init(_ lifetime: Duration, under scope: String, overriding: Override = .nothing) {
            self.lifetime = lifetime
            self.scope = scope
            self.overriding = overriding
            let parts = try? URLParts(scope)
            prefix = parts.flatMap {
                $0.target.utf8.contains(UInt8(ascii: "?")) ? nil : $0.origin.description + $0.target
            }
        }

        /// Whether the scope is a URL; otherwise it covers nothing.
        var isValid: Bool { prefix != nil }

        func covers(_ target: String) -> Bool {
            guard let prefix = prefix?.utf8, target.utf8.starts(with: prefix) else { return false }
            let rest = target.utf8.dropFirst(prefix.count)
            guard prefix.last != UInt8(ascii: "/"), let next = rest.first else { return true }
            return next == UInt8(ascii: "/") || next == UInt8(ascii: "?")
        }

        /// Returns the effective directives, including this lifetime; nil if the server's directives apply unchanged.
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

extension CacheConfiguration {
    /// Returns the effective directives of a response, and whether the app has changed them.
    func control(
        _ headers: HTTPHeaders, _ status: HTTPStatus, at target: String
    ) -> (control: CacheControl, isRuled: Bool) {
        let control = CacheControl(headers)
        guard !lifetimes.isEmpty, [200, 203, 204, 300, 301, 308].contains(status.code),
            let rule = lifetimes.first(where: { $0.covers(target) }), let applied = rule.applied(to: control, headers)
        else { return (control, false) }
        return (applied, true)
    }

    /// Returns the URL under which a response is stored: without the ignored query items.
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
