// SPDX-License-Identifier: MIT

import Curlew
import CurlewUI
import Observation

struct Product: Decodable, Identifiable, Hashable, Sendable {
    let id: Int
    let title, description, category: String
    let price, rating: Double
    let stock: Int
}

/// Part of a list, in the object that says how long the list is.
struct ProductPage: Decodable, Sendable {
    let products: [Product]
    let total, skip: Int

    /// How many products the next part skips; nil for the last one. A part without products is the last one whatever
    /// the total says: asking again would bring the same.
    var next: Int? {
        let end = skip + products.count
        return products.isEmpty || end >= total ? nil : end
    }
}

/// All products, or those that a text finds.
struct FindProducts: Endpoint {
    typealias Response = ProductPage
    let text: String
    let skip: Int
    let limit = 4

    var path: RequestPath { text.isEmpty ? "/products" : "/products/search" }
    var query: QueryItems {
        let wanted = text.isEmpty ? nil : text
        return ["q": wanted, "limit": limit, "skip": skip]
    }
}

/// The screen of the products: a list that grows while the user scrolls, and another list for each search.
@MainActor @Observable
final class Catalogue {
    private(set) var products: PagedLoadable<Product, Int>
    /// What was searched for; empty for all products.
    private(set) var text = ""
    @ObservationIgnored private let client: APIClient

    init(client: APIClient) {
        self.client = client
        products = Self.list("", client)
    }

    /// Begins a list of what `text` finds, and loads its first page.
    func search(_ text: String) async {
        if text != self.text {
            products.cancel()
            self.text = text
            products = Self.list(text, client)
        }
        await products.load()
    }

    private static func list(_ text: String, _ client: APIClient) -> PagedLoadable<Product, Int> {
        PagedLoadable(prefetchDistance: 2) { skip in
            let page = try await client.send(FindProducts(text: text, skip: skip ?? 0))
            return Page(items: page.products, next: page.next)
        }
    }
}
