// SPDX-License-Identifier: MIT

public import CurlewCore

/// Changes of single items that show at once, found by their identity, wherever they are after a refresh.
///
/// Several may be under way: one that fails takes back only what it did. Each closure that changes an item may run several
/// times, on the item as it is then, and not at all where there is none. All of them throw what the work throws, when the
/// change has been taken back.
///
/// A page that is asked for by a number of items to skip begins one item late after a removal, and one early after an
/// insertion: what comes twice is shown once, and what is left out comes with the next refresh.
@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
extension PagedLoadable {
    /// Shows a change of the item with this identity, has it done, and takes it back if that fails.
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

    /// The same, for a server that tells the item as it is after the change: that one is shown in place of the guess.
    public func change(
        _ id: Item.ID, _ mutate: @escaping @MainActor (inout Item) -> Void,
        replacement: @MainActor () async throws -> Item
    ) async throws(NetworkError) {
        try await perform(.change(id, mutate), replacement)
    }

    /// Shows a new item, has it made, and takes it away if that fails.
    ///
    /// - `index`: where it is shown; beyond the end is at the end. Default the beginning.
    /// - `replacement`: makes it, and returns it as the server has it, with the identity that it has there.
    public func insert(
        _ item: Item, at index: Int = 0, replacement: @MainActor () async throws -> Item
    ) async throws(NetworkError) {
        try await perform(.insert(item, at: index), replacement)
    }

    /// Removes the item with this identity, has that done, and shows it again if that fails.
    public func remove(_ id: Item.ID, commit: @MainActor () async throws -> Void) async throws(NetworkError) {
        try await perform(.remove(id)) {
            try await commit()
            return nil
        }
    }

    /// Shows what has been done elsewhere, such as on another screen: the item with this identity as `mutate` changes it.
    public func change(_ id: Item.ID, _ mutate: @MainActor (inout Item) -> Void) {
        withoutActuallyEscaping(mutate) { keep(.change(id, $0)) }
        publish()
    }

    /// Shows an item that has been made elsewhere; one that is there already stays where it is. Default at the beginning.
    public func insert(_ item: Item, at index: Int = 0) {
        keep(.insert(item, at: index), answered: item)
        publish()
    }

    /// Removes an item that is gone.
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
            let answer = try await commit()
            changes.removeAll { $0.number == number }
            keep(edit, answered: answer)
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
