// SPDX-License-Identifier: MIT

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
