// SPDX-License-Identifier: MIT

public import CurlewCore
public import CurlewFoundation
public import CurlewHTTP

extension HTTPCache {
    /// A selection of the entries of a store, for `HTTPCache.Store.remove(_:)`.
    @nonexhaustive
    public enum Removal: Sendable {
        /// All entries.
        case everything
        /// Every entry of this absolute URL, for all principals, methods and variants.
        case target(String)
        /// Every entry whose URL begins with this string, such as `https://api.example/films/`, compared byte by byte.
        case prefix(String)
        /// The entries stored for this principal. Nil selects the entries without a principal, such as those of
        /// requests without a credential.
        case principal(String?)
        /// The entries that have at least one of these tags.
        case tags(Set<String>)
        /// The entries with these identifiers.
        case entries(Set<HTTPCache.Entry.ID>)
        /// The entries for which the function returns true. The store checks every entry.
        case matching(@Sendable (HTTPCache.Entry) -> Bool)

        /// Returns a selection of the entries that were stored for this principal, alone or combined with others:
        /// `.principal(tokens.principal)` after a sign-out. Selects nothing for `.unknown`. The store checks every entry.
        public static func principal(_ principal: Principal) -> HTTPCache.Removal {
            guard let text = principal.text else { return principal == .anonymous ? .principal(nil) : .entries([]) }
            let parts = Set(text.parts("+"))
            return .matching { stored in
                stored.key.principal.map { parts.isSubset(of: $0.parts("+")) } ?? false
            }
        }

        /// Returns a selection of every entry of an origin.
        public static func origin(_ origin: Origin) -> HTTPCache.Removal { .prefix(origin.description + "/") }

        /// Returns a selection of the entries that the server last sent or validated before this wall-clock time. The
        /// store checks every entry.
        public static func unchecked(since time: Date) -> HTTPCache.Removal { .matching { $0.responseTime < time } }

        /// Returns whether the selection contains an entry. A store that selects entries with an index must select the
        /// same ones.
        public func contains(_ response: HTTPCache.Entry) -> Bool {
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
}

extension HTTPCache.Removal: MirroredByDescription {
    /// A short name of the selection. Secret values of a URL are redacted; principals and tags are not shown.
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
}
