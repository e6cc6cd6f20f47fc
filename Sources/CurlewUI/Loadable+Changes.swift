// SPDX-License-Identifier: MIT

public import CurlewCore

@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
extension Loadable {
    /// Shows a change immediately, commits it, and reverts it if the commit fails.
    ///
    ///     try await profile.change { $0.isPublic = true } commit: { try await client.send(.publish) }
    ///
    /// Several changes may be in progress. A failed change reverts only its own effect: the others are applied again to
    /// the value without the failed one. `mutate` may therefore run several times, also on a value that was loaded in
    /// the meantime and already contains the change. While there is no value, only `commit` runs.
    ///
    /// For a list of `Identifiable` items, use `insert`, `remove`, and `change(_:_:commit:)` with an item's id: they
    /// find the item by its identity. This method runs `mutate` on such a list only while the list has the same items
    /// in the same order, so that an index captured earlier stays in range. On a different list the change is not
    /// shown, and the value is marked stale when `commit` has succeeded. If the list is inside a value, `mutate` must
    /// find the item by its id.
    ///
    /// If `commit` throws, reverts the change and throws the error, converted by `NetworkError.init(_:)`.
    public func change(
        _ mutate: @escaping @MainActor (inout Value) -> Void, commit: @MainActor () async throws -> Void
    ) async throws(NetworkError) {
        try await perform(mutate, writtenFor: Self.identities(state.value)) {
            try await commit()
            return nil
        }
    }

    /// Shows a change immediately, and then replaces the value with the result of `replacement`. If `replacement`
    /// throws, reverts the change and throws the error. Otherwise, this method behaves like `change(_:commit:)`.
    public func change(
        _ mutate: @escaping @MainActor (inout Value) -> Void, replacement: @MainActor () async throws -> Value
    ) async throws(NetworkError) {
        try await perform(mutate, writtenFor: Self.identities(state.value), replacement)
    }

    /// Shows a change immediately, runs its commit, and reverts the change if the commit fails.
    ///
    /// - `identities`: the identities of the items in the list that `mutate` was written for; nil if it applies to any
    ///   value.
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
            let result = try await commit()
            // After a reset, the change belongs to a previous value, which may be the value of another user.
            guard let index = changes.firstIndex(where: { $0.number == change.number }) else { return }
            changes.remove(at: index)
            keep(change, result)
        } catch {
            changes.removeAll { $0.number == change.number }
            throw NetworkError(error)
        }
    }

    struct Change {
        let number: Int
        let identities: [AnyHashable]?
        let mutate: @MainActor (inout Value) -> Void

        /// Applies the change to `value`. If the change was written for another list, leaves `value` unchanged and
        /// returns false.
        @MainActor
        func apply(to value: inout Value) -> Bool {
            if let identities, let present = Loadable.identities(value), present != identities { return false }
            mutate(&value)
            return true
        }
    }

    /// Returns the settled value with the pending changes applied.
    func changed(_ value: Value?) -> Value? {
        guard var value else { return nil }
        for change in changes { _ = change.apply(to: &value) }
        return value
    }

    private func keep(_ change: Change, _ result: Value?) {
        func kept(_ value: Value) -> (value: Value, isComplete: Bool) {
            if let result { return (result, true) }
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

    /// Returns the identities of the items if the value is a list of `Identifiable` items, otherwise nil.
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

/// Changes list items that are found by their identity, even after a refresh has moved them.
@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
extension Loadable {
    /// Shows a change of the item with this identity immediately, commits it, and reverts it if the commit fails.
    ///
    ///     try await films.change(film.id) { $0.isSeen = true } commit: { try await client.send(.markSeen(film.id)) }
    ///
    /// `mutate` may run several times, each time on the current item, and does not run if the list has no such item.
    /// Otherwise, this method behaves like `change(_:commit:)`.
    public func change<Item: Identifiable>(
        _ id: Item.ID, _ mutate: @escaping @MainActor (inout Item) -> Void, commit: @MainActor () async throws -> Void
    ) async throws(NetworkError) where Value == [Item] {
        try await edit(.change(id, mutate)) {
            try await commit()
            return nil
        }
    }

    /// Shows a change of the item with this identity immediately, and then replaces the item with the one that
    /// `replacement` returns. If `replacement` throws, reverts the change and throws the error.
    public func change<Item: Identifiable>(
        _ id: Item.ID, _ mutate: @escaping @MainActor (inout Item) -> Void,
        replacement: @MainActor () async throws -> Item
    ) async throws(NetworkError) where Value == [Item] {
        try await edit(.change(id, mutate), replacement)
    }

    /// Shows a new item immediately. If `replacement` throws, removes the item again and throws the error. If the list
    /// already contains an item with the same `id`, that item stays until the server's version replaces it.
    ///
    /// - `index`: the index at which the item is shown, limited to the range of the list. Default 0.
    /// - `replacement`: creates the item on the server, and returns the server's version with its identity there.
    public func insert<Item: Identifiable>(
        _ item: Item, at index: Int = 0, replacement: @MainActor () async throws -> Item
    ) async throws(NetworkError) where Value == [Item] {
        try await edit(.insert(item, at: index), replacement)
    }

    /// Removes the item with this identity immediately. If `commit` throws, shows the item again and throws the error.
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
        let result = ItemResult<Item>()
        try await perform({ edit.apply(to: &$0, replacedBy: result.item) }, writtenFor: nil) {
            result.item = try await commit()
            return nil
        }
    }
}
