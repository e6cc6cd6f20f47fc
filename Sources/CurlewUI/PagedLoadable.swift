// SPDX-License-Identifier: MIT

public import CurlewCore
public import Observation

/// One page of a list.
public struct Page<Item: Sendable, Cursor: Sendable>: Sendable {
    /// The items in their order.
    public var items: [Item]
    /// Where the next page begins; nil when there is none.
    public var next: Cursor?

    /// A page.
    public init(items: [Item], next: Cursor?) {
        self.items = items
        self.next = next
    }
}

/// A list that is loaded page by page while somebody scrolls.
///
///     let products = PagedLoadable { cursor in
///         let page = try await client.send(.products(skip: cursor ?? 0))
///         return Page(items: page.products, next: page.nextSkip)
///     }
///
///     ForEach(products.items) { product in
///         Row(product).onAppear { products.appeared(product) }
///     }
///
/// - The next page is loaded when one of the last `prefetchDistance` items appears; one page at a time.
/// - An item that comes twice, because the list moved between two pages, is shown once, as it came last.
/// - A refresh shows the old items until the first page is there. A failure leaves everything as it is, and `retry()`
///   goes on where it failed.
/// - A refresh, and the pages after it, ask the server: calls of a client in the source are `CachePolicy.validate`, unless
///   they say otherwise.
/// - `change`, `insert` and `remove` show at once what is then done, and take it back if that fails.
/// - At most `pageLimit` pages are loaded, whatever the server says of more.
@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
@MainActor @Observable
public final class PagedLoadable<Item: Identifiable & Sendable, Cursor: Sendable>: LoadablePart {
    /// What has come so far.
    public private(set) var items: [Item] = []
    /// Work is under way: on the first page if there are no items, else on the next one or on a refresh.
    public private(set) var isLoading = false
    /// What the last work failed with; nil while another one is under way. Never a cancellation.
    public private(set) var error: NetworkError?
    /// The server has more. True before the first page.
    public private(set) var hasMore = true

    @ObservationIgnored private let source: @MainActor (Cursor?) async throws -> Page<Item, Cursor>
    @ObservationIgnored private let prefetchDistance: Int
    @ObservationIgnored private let pageLimit: Int
    @ObservationIgnored private var next: Cursor?
    @ObservationIgnored private var pages = 0
    /// What the pages have brought, without the changes that are under way.
    @ObservationIgnored var loaded: [Item] = []
    /// Where each of `loaded` is.
    @ObservationIgnored private var places: [Item.ID: Int] = [:]
    @ObservationIgnored var changes: [Change] = []
    @ObservationIgnored var lastChange = 0
    @ObservationIgnored private var hasRefreshed = false
    @ObservationIgnored private var work: SharedWork?
    @ObservationIgnored private var isRefreshing = false

    /// A list.
    ///
    /// - `prefetchDistance`: how many items before the end the next page is asked for. Default 5.
    /// - `pageLimit`: the most pages. Default 1,000.
    /// - `source`: the page at a cursor; nil asks for the first one. Called on the main actor, as for `Loadable`.
    public init(
        prefetchDistance: Int = 5, pageLimit: Int = 1000,
        _ source: @escaping @MainActor (Cursor?) async throws -> Page<Item, Cursor>
    ) {
        self.prefetchDistance = max(0, prefetchDistance)
        self.pageLimit = max(1, pageLimit)
        self.source = source
    }

    /// Loads the first page unless it is there; joins what is under way.
    public func load() async {
        if work == nil, pages > 0 { return }
        await settle(work ?? begin(refresh: false))
    }

    /// Loads the next page, if there is one; joins what is under way.
    public func loadMore() async {
        guard hasMore || work != nil else { return }
        await settle(work ?? begin(refresh: false))
    }

    /// Begins anew with the first page. What is under way on another page is dropped.
    public func refresh() async {
        await settle(begin(refresh: true))
    }

    /// After a failure, does once more what failed; otherwise the same as `load()`.
    public func retry() async {
        guard error != nil else { return await load() }
        await settle(work ?? begin(refresh: isRefreshing))
    }

    /// Ends what is under way. What has come stays.
    public func cancel() {
        guard let work else { return }
        self.work = nil
        isLoading = false
        work.end()
    }

    /// To be called when an item is shown: begins to load the next page near the end. After a failure it waits for
    /// `retry()` or `refresh()`, so that scrolling does not call a server that is down again and again.
    public func appeared(_ item: Item) {
        guard work == nil, error == nil, hasMore,
            items.suffix(max(1, prefetchDistance)).contains(where: { $0.id == item.id })
        else { return }
        _ = begin(refresh: false)
    }

    private func begin(refresh: Bool) -> SharedWork {
        let earlier = work
        let begun = SharedWork()
        work = begun
        isRefreshing = refresh
        isLoading = true
        error = nil
        earlier?.end()
        let cursor = refresh ? nil : next
        // Stored pages of the time before a refresh do not fit the first page of the time after it.
        let demand = refresh || hasRefreshed ? Demand.refresh : .load
        begun.start { [source, weak self, weak begun] in
            let result: Result<Page<Item, Cursor>, any Error>
            do { result = .success(try await demand.told { try await source(cursor) }) } catch {
                result = .failure(error)
            }
            if let self, let begun { self.finish(begun, result) }
        }
        return begun
    }

    private func finish(_ finished: SharedWork, _ result: Result<Page<Item, Cursor>, any Error>) {
        guard work === finished else { return }
        work = nil
        isLoading = false
        switch result {
        case .success(let page): add(page)
        case .failure(let failure):
            let failure = NetworkError(failure)
            if !failure.isCancelled { error = failure }
        }
        finished.end()
    }

    private func add(_ page: Page<Item, Cursor>) {
        if isRefreshing {
            loaded = []
            places = [:]
            pages = 0
            hasRefreshed = true
        }
        isRefreshing = false
        for item in page.items {
            if let place = places[item.id] {
                loaded[place] = item
            } else {
                places[item.id] = loaded.count
                loaded.append(item)
            }
        }
        publish()
        pages += 1
        next = page.next
        hasMore = page.next != nil && pages < pageLimit
    }

    /// Does in what has come what has been done.
    func keep(_ edit: ItemEdit<Item>, answered answer: Item? = nil) {
        edit.apply(to: &loaded, answered: answer)
        places = Dictionary(loaded.enumerated().map { ($1.id, $0) }) { first, _ in first }
    }

    /// Shows what has come, with the changes that are under way.
    func publish() {
        var shown = loaded
        for change in changes { change.edit.apply(to: &shown) }
        items = shown
    }

    private func settle(_ awaited: SharedWork) async {
        await SharedWork.settle(awaited, current: { work }, cancel: { cancel() })
    }
}
