// SPDX-License-Identifier: MIT

public import CurlewHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Which entries of a store are meant.
@nonexhaustive
public enum CacheSelection: Sendable {
    /// All of them.
    case everything
    /// Every entry of this absolute URL: of all principals, methods and variants.
    case target(String)
    /// Every entry whose URL begins like this, compared byte by byte: `https://api.example/films/`.
    case prefix(String)
    /// What was stored for this principal; nil means nobody.
    case principal(String?)
    /// Entries that have one of these tags at least.
    case tags(Set<String>)
    /// These entries.
    case entries(Set<CacheEntryID>)
    /// Entries that the function says yes to. The store looks at every entry.
    case matching(@Sendable (StoredResponse) -> Bool)

    /// What was stored for this party alone, or for it together with others: `.party(tokens.principal)` after a
    /// sign-out. Nothing for `.unknown`. Looks at every entry.
    public static func party(_ principal: Principal) -> CacheSelection {
        guard let text = principal.text else { return principal == .anonymous ? .principal(nil) : .entries([]) }
        let parts = Set(text.parts("+"))
        return .matching { stored in
            stored.key.principal.map { parts.isSubset(of: $0.parts("+")) } ?? false
        }
    }

    /// Every entry of an origin.
    public static func origin(_ origin: Origin) -> CacheSelection { .prefix(origin.description + "/") }

    /// Entries whose server was asked last before this time, by the wall clock. Looks at every entry.
    public static func unchecked(since time: Date) -> CacheSelection { .matching { $0.responseTime < time } }

    /// Whether an entry is meant: the definition that stores follow, by an index or without.
    public func contains(_ response: StoredResponse) -> Bool {
        switch self {
        case .everything: true
        case .target(let target): response.key.target == target
        case .prefix(let prefix): response.key.target.utf8.starts(with: prefix.utf8)
        case .principal(let principal): response.key.principal == principal
        case .tags(let tags): !response.tags.isDisjoint(with: tags)
        case .entries(let ids): ids.contains(response.id)
        case .matching(let matches): matches(response)
        }
    }
}

extension CacheSelection: CustomStringConvertible, CustomReflectable {
    /// Which case it is, without secret values of a URL, and without the names of principals and tags.
    public var description: String {
        switch self {
        case .everything: "everything"
        case .target(let target): "target \(Redaction.standard.url(target))".printable
        case .prefix(let prefix): "prefix \(Redaction.standard.url(prefix))".printable
        case .principal(let principal): principal == nil ? "nobody's" : "one principal's"
        case .tags(let tags): "\(tags.count) tags"
        case .entries(let ids): "\(ids.count) entries"
        case .matching: "matching"
        }
    }

    /// Shows the description only, to debuggers and `dump` too.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
