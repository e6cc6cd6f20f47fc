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
        /// The entries for which the function returns true. The store checks every entry. The function may use it.
        case matching(@Sendable (HTTPCache.Entry) -> Bool)

        /// Returns a selection of the entries that were stored for this principal, alone or combined with others:
        /// `.principal(tokens.principal)` after a sign-out. Nothing for `.unknown`. The store checks every entry.
        public static func principal(_ principal: Principal) -> HTTPCache.Removal {
            guard let text = principal.text else { return principal == .anonymous ? .principal(nil) : .entries([]) }
            let parts = text.parts("+")
            return .matching { stored in
                let stored = stored.key.principal.map { $0.parts("+") } ?? []
                return !stored.isEmpty && parts.allSatisfy(stored.contains)
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
            case .prefix(let prefix): response.key.target.begins(with: prefix)
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

/// The most recent removals of a memory store, by number. A commit checks whether one of them has removed its entry
/// since the lookup.
struct RecentRemovals: Sendable {
    /// The minimum number of removals to keep. An entry whose lookup preceded all kept removals counts as removed.
    static let maximum = 1024

    private(set) var last: Int64 = 0
    private var selections: [HTTPCache.Removal] = []

    mutating func note(_ selection: HTTPCache.Removal) {
        last += 1
        selections.append(selection)
        if selections.count >= 2 * Self.maximum { selections.removeFirst(selections.count - Self.maximum) }
    }

    /// Returns whether a removal after number `start` contains the entry. A removal with a function of the app counts
    /// as containing every entry that is being written, because the function is not called again.
    func reach(_ response: HTTPCache.Entry, since start: Int64) -> Bool {
        guard start < last else { return false }
        let count = last - start
        guard start >= 0, count <= Int64(selections.count) else { return true }
        return selections.suffix(Int(count)).contains { selection in
            if case .matching = selection { return true }
            return selection.contains(response)
        }
    }
}

extension HTTPCache.Entry {
    /// Whether the request of this response was sent later than the request of `other`. A request time in the future is
    /// a clock error, and does not count as later.
    package func isNewer(than other: HTTPCache.Entry, now: Date = Date()) -> Bool {
        requestTime > other.requestTime && requestTime <= max(now, other.responseTime)
    }
}

extension Principal {
    /// The identifying string of `.known`; nil for `.anonymous` and `.unknown`.
    var text: String? {
        if case .known(let text, _) = self { text } else { nil }
    }
}
