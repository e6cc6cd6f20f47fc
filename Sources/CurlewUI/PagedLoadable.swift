// SPDX-License-Identifier: MIT

public import CurlewCore
public import Observation

/// One page of a list, with the cursor of the next page.
public struct Page<Item: Sendable, Cursor: Sendable>: Sendable {
    /// The items of the page, in order.
    public var items: [Item]
    /// The cursor with which the next page is requested; nil if this is the last page.
    public var next: Cursor?

    /// Creates a page. For the last page, `next` is nil.
    public init(items: [Item], next: Cursor?) {
        self.items = items
        self.next = next
    }
}

/// A list that is loaded page by page while the user scrolls.
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
/// - The next page is loaded when one of the last `prefetchDistance` items appears. Only one page is loaded at a time.
/// - An item that is received twice, because the list changed between two pages, is shown once, in its latest version.
/// - The old items stay visible during a refresh until the first page arrives. A failure does not change the items, and
///   `retry()` repeats the load that failed.
/// - A refresh and the pages after it contact the server: in the client calls of the source,
///   `HTTPCache.Policy.validate` replaces `.useProtocol` and `.returnStaleElseLoad`.
/// - `change`, `insert` and `remove` show a change immediately, then commit it, and revert it if the commit fails.
/// - At most `pageLimit` pages are loaded, even if the server reports more.
@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
@MainActor @Observable
public final class PagedLoadable<Item: Identifiable & Sendable, Cursor: Sendable>: LoadablePart {
    /// The items loaded so far, with pending changes applied. Observable.
    public private(set) var items: [Item] = []
    /// Whether a load of the first page or the next page, or a refresh, is in progress.
    public private(set) var isLoading = false
    /// The error if the last load or refresh failed; nil during a new one, and after its cancellation.
    public private(set) var error: NetworkError?
    /// Whether there are more items to load. True before the first page; false after the last page or `pageLimit`
    /// pages.
    public private(set) var hasMore = true

    @ObservationIgnored private let source: @MainActor (Cursor?) async throws -> Page<Item, Cursor>
    @ObservationIgnored private let prefetchDistance: Int
    @ObservationIgnored private let pageLimit: Int
    @ObservationIgnored private var next: Cursor?
    @ObservationIgnored private var pages = 0
    /// The items of the loaded pages, without pending changes.
    @ObservationIgnored var loaded: [Item] = []
    /// The index of each item in `loaded`.
    @ObservationIgnored private var indices: [Item.ID: Int] = [:]
    @ObservationIgnored var changes: [Change] = []
    @ObservationIgnored var lastChange = 0
    @ObservationIgnored private var hasRefreshed = false
    @ObservationIgnored private var work: SharedWork?
    @ObservationIgnored private var isRefreshing = false

    /// Creates a list. `source` loads its pages.
    ///
    /// - `prefetchDistance`: the number of items at the end of the list whose appearance starts the load of the next
    ///   page. Default 5, at least 1.
    /// - `pageLimit`: the maximum number of pages to load. Default 1,000, at least 1.
    /// - `source`: loads the page at a cursor; nil requests the first page. It is called on the main actor, as for
    ///   `Loadable`.
    public init(
        prefetchDistance: Int = 5, pageLimit: Int = 1000,
        _ source: @escaping @MainActor (Cursor?) async throws -> Page<Item, Cursor>
    ) {
        self.prefetchDistance = max(0, prefetchDistance)
        self.pageLimit = max(1, pageLimit)
        self.source = source
    }

    /// Loads the first page unless it has been loaded. Joins a load that is in progress. Returns when no load is in
    /// progress, or when the caller is cancelled.
    public func load() async {
        if work == nil, pages > 0 { return }
        await settle(work ?? begin(refresh: false))
    }

    /// Loads the next page if there is one. If a load or refresh is in progress, only waits for it.
    public func loadMore() async {
        guard hasMore || work != nil else { return }
        await settle(work ?? begin(refresh: false))
    }

    /// Loads the first page again, and replaces all items with those of that page. Cancels a load that is in progress.
    public func refresh() async {
        await settle(begin(refresh: true))
    }

    /// Repeats the load or refresh that failed. Without a failure, behaves like `load()`.
    public func retry() async {
        guard error != nil else { return await load() }
        await settle(work ?? begin(refresh: isRefreshing))
    }

    /// Cancels the load or refresh that is in progress. The loaded items stay.
    public func cancel() {
        guard let work else { return }
        self.work = nil
        isLoading = false
        work.end()
    }

    /// Starts to load the next page if `item` is one of the last `prefetchDistance` items. Call this method when an
    /// item appears. After a failure it does nothing until `retry()` or `refresh()`, so that scrolling does not
    /// repeatedly call a failing server.
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
        // Pages that were stored before a refresh may not match the first page loaded after it.
        let demand = refresh || hasRefreshed ? Demand.refresh : .load
        begun.start { [source, weak self, weak begun] in
            let result: Result<Page<Item, Cursor>, any Error>
            do { result = .success(try await demand.apply { try await source(cursor) }) } catch {
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
        case .failure(let failure): error = NetworkError(ofWork: failure)
        }
        finished.end()
    }

    private func add(_ page: Page<Item, Cursor>) {
        if isRefreshing {
            loaded = []
            indices = [:]
            pages = 0
            hasRefreshed = true
        }
        isRefreshing = false
        for item in page.items {
            if let index = indices[item.id] {
                loaded[index] = item
            } else {
                indices[item.id] = loaded.count
                loaded.append(item)
            }
        }
        publish()
        pages += 1
        next = page.next
        hasMore = page.next != nil && pages < pageLimit
    }

    /// Applies a committed edit to the loaded items.
    func keep(_ edit: ItemEdit<Item>, replacedBy result: Item? = nil) {
        edit.apply(to: &loaded, replacedBy: result)
        indices = Dictionary(loaded.enumerated().map { ($1.id, $0) }) { first, _ in first }
    }

    /// Publishes the loaded items with the pending changes applied.
    func publish() {
        var shown = loaded
        for change in changes { change.edit.apply(to: &shown) }
        items = shown
    }

    private func settle(_ awaited: SharedWork) async {
        await SharedWork.settle(awaited, current: { work }, cancel: { cancel() })
    }
}
