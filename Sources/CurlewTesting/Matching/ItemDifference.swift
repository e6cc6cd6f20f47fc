// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// The differences between named values: the items of a query, the fields of a form, header fields.
enum ItemDifference {
    /// A name with its value, decoded and redacted. Items are compared by their bytes: texts that are canonically
    /// equivalent are different requests.
    struct Item: Hashable, Sendable, Comparable {
        let name: String
        let value: String

        static func == (left: Item, right: Item) -> Bool {
            left.name.utf8.elementsEqual(right.name.utf8) && left.value.utf8.elementsEqual(right.value.utf8)
        }

        func hash(into hasher: inout Hasher) {
            for text in [name, value] {
                for byte in text.utf8 { hasher.combine(byte) }
                hasher.combine(UInt8(0xFF))
            }
        }

        static func < (left: Item, right: Item) -> Bool {
            (left.name, left.value) < (right.name, right.value)
        }
    }

    /// Returns the differences, name by name in the order of the names; empty if both have the same items.
    ///
    /// - `kind`: the word before a name, such as `query item`.
    static func differences(sent: [Item], recorded: [Item], kind: String) -> [Difference] {
        let names = Set(sent.map(\.name)).union(recorded.map(\.name)).sorted()
        return names.compactMap { name in
            let ours = sent.filter { $0.name == name }
            let others = recorded.filter { $0.name == name }
            guard ours != others else { return nil }
            let (mine, theirs) = (ours.map(\.value), others.map(\.value))
            let isOrder = mine != theirs && mine.sorted() == theirs.sorted()
            return Difference(
                "\(kind) \(name.clipped(to: 100)): the request has \(list(mine)), the entry has \(list(theirs))"
                    + (isOrder ? " (the order differs)" : ""),
                weight: isOrder || mine.count == theirs.count ? 1 : 2)
        }
    }

    private static func list(_ values: [String]) -> String {
        values.isEmpty ? "none" : values.prefix(5).map { Difference.quoted($0) }.joined(separator: ", ")
    }

    /// Returns the decoded pairs of a query or a form in their order.
    static func items(of text: some StringProtocol) -> [Item] {
        String(text).parts("&").map { pair in
            let pieces = pair.parts("=", most: 2, keepingEmpty: true).map(String.init)
            let decoded = pieces.map { PercentCoding.decodeForm($0) ?? $0 }
            return Item(name: decoded.first ?? "", value: decoded.count > 1 ? decoded[1] : "")
        }
    }
}
