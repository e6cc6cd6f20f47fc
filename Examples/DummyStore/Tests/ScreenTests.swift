// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting
import Testing

@testable import DummyStore

@Suite("The account's screen", .timeLimit(.minutes(1)))
@MainActor
struct AccountTests {
    enum Place: CaseIterable { case server, memory }

    @Test("the same business code works over both services", arguments: Place.allCases)
    func bothServices(place: Place) async throws {
        let shop = try Shop()
        defer { shop.api.stop() }
        let account = Account(place == .server ? shop.service : LocalUserService())
        await account.user.load()
        #expect(account.user.error?.statusCode == 401)
        #expect(account.greeting == "Please sign in")

        await account.signIn(username: "emilys", password: "guess")
        #expect(account.problem == "Invalid credentials")
        #expect(account.user.value == nil)

        await account.signIn(username: "emilys", password: "emilyspass")
        #expect(account.problem == nil)
        #expect(account.greeting == "Hello, Emily Johnson")

        await account.signOut()
        #expect(account.user.error?.statusCode == 401)
        #expect(account.greeting == "Please sign in")
    }

    /// A service that answers after ten seconds of a clock that stands still.
    private func slow(_ clock: ManualClock) -> Account {
        let mock = MockTransport { $0.on(GetCurrentUser.self, delay: .seconds(10), .status(500)) }
        let client = APIClient.mock(mock, configuration: APIClient.Configuration(time: clock))
        return Account(APIUserService(client: client, tokens: TokenStore()))
    }

    @Test("a cancelled load shows no error, whether the screen or its task ends it", arguments: [true, false])
    func cancelled(byScreen: Bool) async throws {
        let clock = ManualClock()
        let account = slow(clock)
        let load = Task { await account.user.load() }
        try await clock.waitForSleepers(1)
        #expect(account.user.isLoading)
        if byScreen { account.user.cancel() } else { load.cancel() }
        await load.value
        #expect(account.user.error == nil)
        #expect(!account.user.isLoading)
        #expect(account.problem == nil)
    }

    @Test("a load that is not cancelled shows its error")
    func failed() async throws {
        let clock = ManualClock()
        let account = slow(clock)
        let load = Task { await account.user.load() }
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(10))
        await load.value
        #expect(account.user.error?.isServerError == true)
    }
}

@Suite("The catalogue", .timeLimit(.minutes(1)))
@MainActor
struct CatalogueTests {
    @Test("products come page by page, each once")
    func pages() async throws {
        let shop = try Shop()
        defer { shop.api.stop() }
        let products = Catalogue(client: shop.client).products
        await products.load()
        #expect(products.items.map(\.id) == [1, 2, 3, 4])
        while products.hasMore {
            await products.loadMore()
            try #require(products.error == nil)
        }
        #expect(products.items.map(\.id) == Array(1...10))
        #expect(shop.api.requestCount == 3)
    }

    @Test("a search finds what has the text, and an empty one everything")
    func search() async throws {
        let shop = try Shop()
        defer { shop.api.stop() }
        let catalogue = Catalogue(client: shop.client)
        await catalogue.search("phone")
        #expect(catalogue.products.items.map(\.id) == [6, 7])
        #expect(!catalogue.products.hasMore)
        await catalogue.search("")
        #expect(catalogue.products.items.count == 4)
    }

    @Test("an empty page ends the list, whatever the total says")
    func emptyPage() async {
        let mock = MockTransport { $0.on(FindProducts.self) { _ in #"{"products": [], "total": 9, "skip": 0}"# } }
        let products = Catalogue(client: .mock(mock)).products
        await products.load()
        #expect(!products.hasMore)
        await products.loadMore()
        #expect(mock.requestCount == 1)
    }
}
