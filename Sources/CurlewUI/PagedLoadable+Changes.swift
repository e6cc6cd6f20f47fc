// SPDX-License-Identifier: MIT

public import CurlewCore

/// Changes single items and shows each change immediately. An item is found by its identity, also after a refresh.
///
/// Several changes may be in progress; a failed change reverts only its own effect. Each closure that changes an item
/// may run several times, each time on the current item, and does not run if the list has no such item. If `commit` or
/// `replacement` throws, the method reverts the change and throws the error, converted by `NetworkError.init(_:)`.
///
/// If pages are requested by the number of items to skip, the next page begins one item too late after a removal, and
/// one item too early after an insertion. Duplicate items are shown once; omitted items appear with the next refresh.
@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
extension PagedLoadable {
    /// Shows a change to the item with this identity immediately, and commits the change. If `commit` throws, reverts
    /// the change and throws the error.
    ///
    ///     try await films.change(film.id) { $0.isSeen = true } commit: { try await client.send(.markSeen(film.id)) }
    public func change(
        _ id: Item.ID, _ mutate: @escaping @MainActor (inout Item) -> Void, commit: @MainActor () async throws -> Void
    ) async throws(NetworkError) {
        try await perform(.change(id, mutate)) {
            try await commit()
            return nil
        }
    }

    /// Shows a change to the item with this identity immediately, and then replaces the item with the one that
    /// `replacement` returns. If `replacement` throws, reverts the change and throws the error.
    public func change(
        _ id: Item.ID, _ mutate: @escaping @MainActor (inout Item) -> Void,
        replacement: @MainActor () async throws -> Item
    ) async throws(NetworkError) {
        try await perform(.change(id, mutate), replacement)
    }

    /// Shows a new item immediately. If `replacement` throws, removes the item again and throws the error. If the list
    /// already contains an item with the same `id`, that item stays until the server's version replaces it.
    ///
    /// - `index`: the index at which the item is shown, limited to the range of the list. Default 0.
    /// - `replacement`: creates the item on the server, and returns the server's version with its identity there.
    public func insert(
        _ item: Item, at index: Int = 0, replacement: @MainActor () async throws -> Item
    ) async throws(NetworkError) {
        try await perform(.insert(item, at: index), replacement)
    }

    /// Removes the item with this identity immediately. If `commit` throws, shows the item again and throws the error.
    public func remove(_ id: Item.ID, commit: @MainActor () async throws -> Void) async throws(NetworkError) {
        try await perform(.remove(id)) {
            try await commit()
            return nil
        }
    }

    /// Changes the item with this identity if the list has it. Call this method for a change that was committed
    /// elsewhere, such as on another screen.
    public func change(_ id: Item.ID, _ mutate: @MainActor (inout Item) -> Void) {
        withoutActuallyEscaping(mutate) { keep(.change(id, $0)) }
        publish()
    }

    /// Inserts an item that was created elsewhere, by default at the beginning, at the end if `index` is beyond it. If
    /// the list already contains an item with the same `id`, the new item replaces that item in place.
    public func insert(_ item: Item, at index: Int = 0) {
        keep(.insert(item, at: index), replacedBy: item)
        publish()
    }

    /// Removes the item with this identity if the list has it. Call this method for an item that was deleted elsewhere.
    public func remove(_ id: Item.ID) {
        keep(.remove(id))
        publish()
    }

    private func perform(
        _ edit: ItemEdit<Item>, _ commit: @MainActor () async throws -> Item?
    ) async throws(NetworkError) {
        lastChange += 1
        let number = lastChange
        changes.append(Change(number: number, edit: edit))
        publish()
        do {
            let result = try await commit()
            changes.removeAll { $0.number == number }
            keep(edit, replacedBy: result)
            publish()
        } catch {
            changes.removeAll { $0.number == number }
            publish()
            throw NetworkError(error)
        }
    }

    struct Change {
        let number: Int
        let edit: ItemEdit<Item>
    }
}

/// An edit of a list that finds its item by identity rather than by index.
enum ItemEdit<Item: Identifiable> {
    case change(Item.ID, @MainActor (inout Item) -> Void)
    /// Inserts an item at an index, or at the end if the index is beyond it.
    case insert(Item, at: Int)
    case remove(Item.ID)

    /// Applies the edit to `items`. Does nothing if the item to change or remove is not in the list. With `result`, the
    /// server's version of the item replaces the local one.
    @MainActor
    func apply(to items: inout [Item], replacedBy result: Item? = nil) {
        switch self {
        case .change(let id, let mutate):
            guard let existing = items.firstIndex(where: { $0.id == id }) else { return }
            if let result { items[existing] = result } else { mutate(&items[existing]) }
        case .insert(let item, let index):
            let item = result ?? item
            // A page or a refresh may have delivered the item in the meantime.
            if let existing = items.firstIndex(where: { $0.id == item.id }) {
                if result != nil { items[existing] = item }
            } else {
                items.insert(item, at: min(max(0, index), items.count))
            }
        case .remove(let id):
            items.removeAll { $0.id == id }
        }
    }
}

/// A holder of the server's version of an item, for an edit that is applied again to another list.
@MainActor
final class ItemResult<Item> {
    var item: Item?
}
