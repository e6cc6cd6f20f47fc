// SPDX-License-Identifier: MIT

public import CurlewCore

@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
extension Loadable {
    /// Shows what a change will bring, has it done, and takes it back if that fails.
    ///
    ///     try await profile.change { $0.isPublic = true } commit: { try await client.send(.publish) }
    ///
    /// Several changes may be under way. One that fails takes back only what it did: the others are done again on the
    /// value without it. So `mutate` may run several times, also on a value that was loaded meanwhile and has the change
    /// already. While no value is there, only `commit` is done.
    ///
    /// In a list of `Identifiable` items use `change(_:_:commit:)` with an item's id, `insert` and `remove`, which find their
    /// item wherever it is. This form runs `mutate` on such a list only while it has the same items in the same order, so
    /// that an index from before is not out of range; on another list the change does not show, and when `commit` is done
    /// the freshness is stale. In a list inside of a value `mutate` has to find the item by its id itself.
    ///
    /// Throws what `commit` throws, when the change has been taken back.
    public func change(
        _ mutate: @escaping @MainActor (inout Value) -> Void, commit: @MainActor () async throws -> Void
    ) async throws(NetworkError) {
        try await perform(mutate, writtenFor: Self.identities(state.value)) {
            try await commit()
            return nil
        }
    }

    /// The same, for a server that tells the value as it is after the change: that one is shown in place of the guess.
    public func change(
        _ mutate: @escaping @MainActor (inout Value) -> Void, replacement: @MainActor () async throws -> Value
    ) async throws(NetworkError) {
        try await perform(mutate, writtenFor: Self.identities(state.value), replacement)
    }

    /// - `identities`: those of the list that `mutate` was written for; nil when it suits any value.
    private func perform(
        _ mutate: @escaping @MainActor (inout Value) -> Void, writtenFor identities: [AnyHashable]?,
        _ commit: @MainActor () async throws -> Value?
    ) async throws(NetworkError) {
        lastChange += 1
        let change = Change(number: lastChange, identities: identities, mutate: mutate)
        changes.append(change)
        publish()
        defer { publish() }
        do {
            let answer = try await commit()
            // After a reset it concerns a value of somebody else.
            guard let place = changes.firstIndex(where: { $0.number == change.number }) else { return }
            changes.remove(at: place)
            keep(change, answer)
        } catch {
            changes.removeAll { $0.number == change.number }
            throw NetworkError(error)
        }
    }

    struct Change {
        let number: Int
        let identities: [AnyHashable]?
        let mutate: @MainActor (inout Value) -> Void

        /// Changes `value`; false when it was written for another list.
        @MainActor
        func apply(to value: inout Value) -> Bool {
            if let identities, let present = Loadable.identities(value), present != identities { return false }
            mutate(&value)
            return true
        }
    }

    /// The settled value with the changes that are under way.
    func changed(_ value: Value?) -> Value? {
        guard var value else { return nil }
        for change in changes { _ = change.apply(to: &value) }
        return value
    }

    private func keep(_ change: Change, _ answer: Value?) {
        func kept(_ value: Value) -> (value: Value, isComplete: Bool) {
            if let answer { return (answer, true) }
            var value = value
            let isComplete = change.apply(to: &value)
            return (value, isComplete)
        }
        switch settled {
        case .loaded(let value, var freshness):
            let result = kept(value)
            if !result.isComplete { freshness.isStale = true }
            settled = .loaded(result.value, freshness)
        case .failed(let error, let value?): settled = .failed(error, previous: kept(value).value)
        case .idle, .loading, .failed: break
        }
    }

    /// The identities of the items, if the value is a list of `Identifiable` ones.
    private static func identities(_ value: Value?) -> [AnyHashable]? {
        guard let list = value as? any MutableCollection else { return nil }
        var identities: [AnyHashable] = []
        for item in list {
            guard let item = item as? any Identifiable else { return nil }
            identities.append(identity(item))
        }
        return identities
    }

    private static func identity(_ item: some Identifiable) -> AnyHashable { AnyHashable(item.id) }
}

/// Changes in a list, by the identity of its items, wherever they are after a refresh.
@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
extension Loadable {
    /// Shows a change of the item with this identity, has it done, and takes it back if that fails.
    ///
    ///     try await films.change(film.id) { $0.isSeen = true } commit: { try await client.send(.markSeen(film.id)) }
    ///
    /// `mutate` may run several times, on the item as it is then, and not at all where there is none. The rest as for
    /// `change(_:commit:)`.
    public func change<Item: Identifiable>(
        _ id: Item.ID, _ mutate: @escaping @MainActor (inout Item) -> Void, commit: @MainActor () async throws -> Void
    ) async throws(NetworkError) where Value == [Item] {
        try await edit(.change(id, mutate)) {
            try await commit()
            return nil
        }
    }

    /// The same, for a server that tells the item as it is after the change: that one is shown in place of the guess.
    public func change<Item: Identifiable>(
        _ id: Item.ID, _ mutate: @escaping @MainActor (inout Item) -> Void,
        replacement: @MainActor () async throws -> Item
    ) async throws(NetworkError) where Value == [Item] {
        try await edit(.change(id, mutate), replacement)
    }

    /// Shows a new item, has it made, and takes it away if that fails.
    ///
    /// - `index`: where it is shown; beyond the end is at the end. Default the beginning.
    /// - `replacement`: makes it, and returns it as the server has it, with the identity that it has there.
    public func insert<Item: Identifiable>(
        _ item: Item, at index: Int = 0, replacement: @MainActor () async throws -> Item
    ) async throws(NetworkError) where Value == [Item] {
        try await edit(.insert(item, at: index), replacement)
    }

    /// Removes the item with this identity, has that done, and shows it again if that fails.
    public func remove<Item: Identifiable>(
        _ id: Item.ID, commit: @MainActor () async throws -> Void
    ) async throws(NetworkError) where Value == [Item] {
        try await edit(.remove(id)) {
            try await commit()
            return nil
        }
    }

    private func edit<Item: Identifiable>(
        _ edit: ItemEdit<Item>, _ commit: @MainActor () async throws -> Item?
    ) async throws(NetworkError) where Value == [Item] {
        let answer = ItemAnswer<Item>()
        try await perform({ edit.apply(to: &$0, answered: answer.item) }, writtenFor: nil) {
            answer.item = try await commit()
            return nil
        }
    }
}
