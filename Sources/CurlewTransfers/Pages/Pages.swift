// SPDX-License-Identifier: MIT

public import CurlewCore
public import CurlewHTTP

/// The pages of a list as an asynchronous sequence, each requested when it is needed.
///
///     for try await page in client.pages(.films, next: .link) { show(page.value) }
///     for try await film in client.pages(.films, next: .link).items { show(film) }
///
/// - Each page is an ordinary call, with retries, credentials, cache and logs. Only one page is loaded or kept at a
///   time.
/// - A failure ends the sequence. To continue, pass `next` of the last page received: `pages(…, from: page.next)`.
/// - Cancelling the task ends the sequence, between pages and between items, with `.cancelled`.
/// - A server cannot extend the sequence forever: after `pageLimit` pages, and if a page leads to one that was
///   requested before, iterating throws `.refused(by: .pages)`.
/// - Iterating throws `NetworkError`. Each iteration begins again at the first page, or at `from`.
public struct Pages<Value: Sendable>: AsyncSequence, Sendable {
    /// A page: its value, its response, and the position of the next page.
    public struct Page: Sendable {
        /// The decoded value.
        public var value: Value { response.value }
        /// The value with its status, header fields and final URL.
        public let response: Response<Value>
        /// The position of the next page; nil if this is the last one.
        public let next: Position?
    }

    /// A position in a list, at which `pages(…, from:)` with the same `next` continues, even in another process.
    ///
    /// The position contains text of the server, such as a cursor or a URL, which its description omits.
    public struct Position: Sendable, Hashable, Codable {
        let token: String
        /// The reason why this position must not be requested; nil if it may be.
        var refusal: String?
    }

    let plan: Plan

    /// The configuration that all iterations share.
    struct Plan: Sendable {
        let client: APIClient
        let first: Request<Value>
        let next: Next
        let start: Position?
        let pageLimit: Int
    }

    /// Returns an iterator that begins at the first page, or at the position with which the sequence was created.
    public func makeAsyncIterator() -> Iterator {
        Iterator(plan)
    }

    /// Requests one page: the first one, or the one at the position with which the sequence was created. Throws as the
    /// iteration does, and never returns nil. Use it where other code requests each page, such as `PagedLoadable`.
    public func first() async throws(NetworkError) -> Page? {
        var iterator = makeAsyncIterator()
        return try await iterator.next()
    }
}

extension APIClient {
    /// Returns the pages of a list whose first page `endpoint` requests. Nothing is sent before the iteration.
    ///
    /// - `next`: the rule for the request of the next page.
    /// - `start`: the position at which to begin: `Page.next` of an earlier iteration. Default nil, the first page.
    /// - `pageLimit`: the maximum number of pages of one iteration; less than 1 counts as 1. If the list is longer,
    ///   iterating throws `.refused(by: .pages)`. Default 10,000.
    public func pages<E: Endpoint>(
        _ endpoint: E, next: Pages<E.Response>.Next, from start: Pages<E.Response>.Position? = nil,
        pageLimit: Int = 10_000
    ) -> Pages<E.Response> {
        pages(Request(sending: endpoint), next: next, from: start, pageLimit: pageLimit)
    }

    /// Returns the pages of a list whose first page `request` requests: `client.pages(.films, next: .link)`. The
    /// parameters are those of the overload for endpoints.
    public func pages<Value>(
        _ request: Request<Value>, next: Pages<Value>.Next, from start: Pages<Value>.Position? = nil,
        pageLimit: Int = 10_000
    ) -> Pages<Value> {
        Pages(
            plan: Pages.Plan(client: self, first: request, next: next, start: start, pageLimit: max(1, pageLimit)))
    }
}

extension Pages.Position: MirroredByDescription {
    /// The name of the type only, because the position may contain secrets.
    public var description: String { "Position" }
}

extension NetworkError.Policy {
    /// A list has more pages than `pageLimit`, repeats a page, or leads to a URL that must not be requested.
    public static let pages = NetworkError.Policy("pages", message: "The list could not be loaded completely.")
}

extension Pages {
    /// The items of all pages as one asynchronous sequence. If the task is cancelled, `next` throws `.cancelled`.
    public struct Items<Item: Sendable>: AsyncSequence, Sendable {
        let pages: Pages
        let items: @Sendable (Value) -> [Item]

        /// Returns an iterator that begins at the first item of the page at which the pages begin.
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

            /// Returns the next item, or nil after the last one. Throws as `Pages.Iterator.next()` does, and returns
            /// nil afterwards.
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

extension Pages {
    /// Loads one page after the other.
    public struct Iterator: AsyncIteratorProtocol {
        private let plan: Plan
        private var state = State()

        /// The state that decides whether another page is requested: a value without I/O.
        private struct State {
            /// The position of the next page; nil for the first one.
            var position: Position?
            var hasEnded = false
            var count = 0
            /// The hashes of the positions that were requested.
            var visited: Set<Int> = []
        }

        init(_ plan: Plan) {
            self.plan = plan
            state.position = plan.start
        }

        /// Returns the next page, or nil after the last one. Throws `.cancelled`, `.refused(by: .pages)` or the error
        /// of a call, and returns nil afterwards.
        public mutating func next() async throws(NetworkError) -> Page? {
            guard !state.hasEnded else { return nil }
            do throws(NetworkError) {
                let page = try await load()
                state.position = page.next
                state.hasEnded = page.next == nil
                return page
            } catch {
                end()
                throw error
            }
        }

        mutating func end() { state.hasEnded = true }

        private mutating func load() async throws(NetworkError) -> Page {
            guard !Task.isCancelled else { throw NetworkError(.cancelled) }
            try admit()
            let page = try await plan.page(at: state.position)
            if state.count == 1, state.position == nil { state.visited.insert(page.response.url.hashValue) }
            return page
        }

        /// Counts the page that is about to be requested. Throws if it must not be.
        private mutating func admit() throws(NetworkError) {
            if let refusal = state.position?.refusal {
                throw NetworkError(
                    .refused(by: .pages), detail: refusal, hint: "Request the URL yourself, if it is trusted.")
            }
            guard state.count < plan.pageLimit else {
                throw NetworkError(
                    .refused(by: .pages), detail: "The list has more than \(plan.pageLimit) pages.",
                    hint: "Raise pageLimit, or continue with the position of the last page.")
            }
            guard state.position.map({ !state.visited.contains($0.token.hashValue) }) ?? true else {
                throw NetworkError(
                    .refused(by: .pages), detail: "A page leads to a page that was requested before.",
                    hint: "The server repeats its pages; check how the next page is found.")
            }
            if let position = state.position { state.visited.insert(position.token.hashValue) }
            state.count += 1
        }
    }
}

extension Pages.Plan {
    func page(at position: Pages.Position?) async throws(NetworkError) -> Pages.Page {
        let response = try await client.response(for: next.request(self, position))
        do {
            return Pages.Page(response: response, next: try next.position(response, position, self))
        } catch {
            throw NetworkError(error)
        }
    }
}
