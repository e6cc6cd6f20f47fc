// SPDX-License-Identifier: MIT

/// A change in a list of items, which finds its item by its identity and not by a place.
enum ItemEdit<Item: Identifiable> {
    /// Changes the item with this identity.
    case change(Item.ID, @MainActor (inout Item) -> Void)
    /// Adds an item at a place, or at the end where the list is shorter.
    case insert(Item, at: Int)
    /// Takes the item with this identity out.
    case remove(Item.ID)

    /// Does it in `items`; nothing where the item is not there. With an answer, the item is what the server says it is.
    @MainActor
    func apply(to items: inout [Item], answered answer: Item? = nil) {
        switch self {
        case .change(let id, let mutate):
            guard let place = items.firstIndex(where: { $0.id == id }) else { return }
            if let answer { items[place] = answer } else { mutate(&items[place]) }
        case .insert(let item, let index):
            let item = answer ?? item
            // A page or a refresh may have brought it meanwhile.
            if let place = items.firstIndex(where: { $0.id == item.id }) {
                if answer != nil { items[place] = item }
            } else {
                items.insert(item, at: min(max(0, index), items.count))
            }
        case .remove(let id):
            items.removeAll { $0.id == id }
        }
    }
}

/// What a server said of an item, for an edit that is done again on another list.
@MainActor
final class ItemAnswer<Item> {
    var item: Item?
}
