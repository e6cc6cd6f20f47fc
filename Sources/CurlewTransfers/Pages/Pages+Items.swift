// SPDX-License-Identifier: MIT

public import CurlewCore

extension Pages {
    /// The items of all pages as one asynchronous sequence. The task's cancellation is checked before each item.
    public struct Items<Item: Sendable>: AsyncSequence, Sendable {
        let pages: Pages
        let items: @Sendable (Value) -> [Item]

        /// Returns an iterator that begins as the iterator of the pages does.
        public func makeAsyncIterator() -> Iterator {
            Iterator(pages: pages.makeAsyncIterator(), items: items)
        }

        /// Returns the items of one page after the other, and keeps only one page.
        public struct Iterator: AsyncIteratorProtocol {
            var pages: Pages.Iterator
            let items: @Sendable (Value) -> [Item]
            private var page: [Item] = []
            private var index = 0

            init(pages: Pages.Iterator, items: @escaping @Sendable (Value) -> [Item]) {
                self.pages = pages
                self.items = items
            }

            /// Returns the next item, or nil after the last one. Throws `NetworkError`, and returns nil afterwards.
            public mutating func next() async throws(NetworkError) -> Item? {
                while index >= page.count {
                    guard let next = try await pages.next() else { return nil }
                    page = items(next.value)
                    index = 0
                }
                guard !Task.isCancelled else {
                    page = []
                    pages.end()
                    throw NetworkError(.cancelled)
                }
                defer { index += 1 }
                return page[index]
            }
        }
    }

    /// Returns the items of all pages: `client.pages(.films, next: .link).items(\.films)`.
    public func items<Item: Sendable>(_ items: @escaping @Sendable (Value) -> [Item]) -> Items<Item> {
        Items(pages: self, items: items)
    }
}

extension Pages where Value: Sequence, Value.Element: Sendable {
    /// The items of all pages, where each page is a list.
    public var items: Items<Value.Element> {
        items { Array($0) }
    }
}
