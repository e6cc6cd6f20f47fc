// SPDX-License-Identifier: MIT

import CurlewHTTP

/// How long answers of an API count as fresh, where the app knows and the server does not say so.
///
///     rules.lifetimes = [
///         CacheLifetime(.seconds(600), under: "https://api.example/films"),
///         CacheLifetime(.seconds(60), under: "https://legacy.example/", overriding: .lifetime),
///     ]
///
/// It counts for successes and redirects that may be stored without a word of the server (200, 203, 204, 300, 301, 308),
/// from the time at which the server made them. `must-revalidate`, `Vary: *`, what a request asks for and the principal
/// count as ever. The stored fields stay those of the server.
public struct CacheLifetime: Hashable, Sendable {
    /// Which words of the server it takes the place of.
    @nonexhaustive
    public enum Override: Hashable, Sendable {
        /// None: it counts where the server names neither a lifetime (`max-age`, `Expires`) nor `no-cache` nor `no-store`,
        /// in place of the guess that is made from `Last-Modified` otherwise.
        case nothing
        /// `max-age`, `Expires` and a `no-cache` without field names.
        case lifetime
        /// Those and `no-store`: what the server forbids to store is stored, on the disk as well if the store is there.
        case lifetimeAndNoStore
    }

    /// How long an answer is fresh, in whole seconds.
    public var lifetime: Duration
    /// What it covers: a URL, and what lies below its path.
    public let scope: String
    /// What it takes the place of.
    public var overriding: Override
    /// The scope as the keys of entries write it; nil if it is no URL.
    private let prefix: String?

    /// A lifetime for `scope`, an absolute URL without a query: its origin and path, and the paths below it. `/films` covers
    /// `/films?page=2` and `/films/1`, not `/filmstars`.
    public init(_ lifetime: Duration, under scope: String, overriding: Override = .nothing) {
        self.lifetime = lifetime
        self.scope = scope
        self.overriding = overriding
        let parts = try? URLParts(scope)
        prefix = parts.flatMap { $0.target.utf8.contains(UInt8(ascii: "?")) ? nil : $0.origin.description + $0.target }
    }

    /// False for a scope that covers nothing.
    var isValid: Bool { prefix != nil }

    func covers(_ target: String) -> Bool {
        guard let prefix = prefix?.utf8, target.utf8.starts(with: prefix) else { return false }
        let rest = target.utf8.dropFirst(prefix.count)
        guard prefix.last != UInt8(ascii: "/"), let next = rest.first else { return true }
        return next == UInt8(ascii: "/") || next == UInt8(ascii: "?")
    }

    /// What counts of the server's directives, with this lifetime among them; nil if the server's words stand.
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

extension CacheRules {
    /// The directives that count for an answer, and whether the app has changed them.
    func control(
        _ headers: HTTPHeaders, _ status: HTTPStatus, at target: String
    ) -> (control: CacheControl, isRuled: Bool) {
        let control = CacheControl(headers)
        guard !lifetimes.isEmpty, [200, 203, 204, 300, 301, 308].contains(status.code),
            let rule = lifetimes.first(where: { $0.covers(target) }), let applied = rule.applied(to: control, headers)
        else { return (control, false) }
        return (applied, true)
    }

    /// The URL under which an answer is stored: without the items that tell no answers apart.
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
