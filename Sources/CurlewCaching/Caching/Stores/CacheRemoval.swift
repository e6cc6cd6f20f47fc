// SPDX-License-Identifier: MIT

public import CurlewCore
public import CurlewHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A selection of the entries of a store.
@nonexhaustive
public enum CacheRemoval: Sendable {
    /// All entries.
    case everything
    /// Every entry of this absolute URL: of all principals, methods and variants.
    case target(String)
    /// Every entry whose URL begins with this text, compared byte by byte: `https://api.example/films/`.
    case prefix(String)
    /// The entries stored for this principal; nil selects those of requests without a credential.
    case principal(String?)
    /// The entries that have at least one of these tags.
    case tags(Set<String>)
    /// These entries.
    case entries(Set<StoredResponse.ID>)
    /// The entries for which the function returns true. The store checks every entry.
    case matching(@Sendable (StoredResponse) -> Bool)

    /// Returns a selection of the entries stored for this party alone or together with others:
    /// `.party(tokens.principal)` after a sign-out. Selects nothing for `.unknown`. Checks every entry.
    public static func party(_ principal: Principal) -> CacheRemoval {
        guard let text = principal.text else { return principal == .anonymous ? .principal(nil) : .entries([]) }
        let parts = Set(text.parts("+"))
        return .matching { stored in
            stored.key.principal.map { parts.isSubset(of: $0.parts("+")) } ?? false
        }
    }

    /// Returns a selection of every entry of an origin.
    public static func origin(_ origin: Origin) -> CacheRemoval { .prefix(origin.description + "/") }

    /// Returns a selection of the entries whose server was last asked before this time, by the wall clock. Checks every
    /// entry.
    public static func unchecked(since time: Date) -> CacheRemoval { .matching { $0.responseTime < time } }

    /// Returns whether the selection contains an entry. Stores that use an index must return the same result.
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

extension CacheRemoval: CustomStringConvertible, CustomReflectable {
    /// The case, without secret values of a URL, and without the names of principals and tags.
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

    /// Shows only the description, also in debuggers and `dump`.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
