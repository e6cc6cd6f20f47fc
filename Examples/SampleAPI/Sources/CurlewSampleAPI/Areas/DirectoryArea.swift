// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting

/// The routes for users and products. A response with a list is an object that contains one page and the total number
/// of items.
struct DirectoryArea {
    let assetsURL: String

    func add(to routes: inout SampleRoutes) {
        routes.on(.get, "/users", users)
        routes.on(.get, "/users/:id", user)
        routes.on(.get, "/products", products)
        routes.on(.get, "/products/search", search)
        routes.on(.get, "/products/:id", product)
    }

    private func users(_ request: RecordedRequest) throws -> MockResponse {
        let users = try Page(request).of(Account.all).map { $0.shown(with: assetsURL) }
        let skip = try Page(request).skip
        return .json(Users(users: users, total: Account.all.count, skip: skip, limit: users.count))
    }

    private func user(_ request: RecordedRequest) throws -> MockResponse {
        guard let user = Account.all.first(where: { $0.id == request.id() }) else {
            throw Refusal(.notFound, "User with id '\(request.parameters["id"] ?? "")' not found")
        }
        return .json(user.shown(with: assetsURL))
    }

    private func products(_ request: RecordedRequest) throws -> MockResponse {
        try page(of: Product.all, request)
    }

    private func search(_ request: RecordedRequest) throws -> MockResponse {
        let wanted = (request.query["q"] ?? "").lowercased()
        let found = Product.all.filter { product in
            wanted.isEmpty || "\(product.title) \(product.description)".lowercased().contains(wanted)
        }
        return try page(of: found, request)
    }

    private func product(_ request: RecordedRequest) throws -> MockResponse {
        guard let product = Product.all.first(where: { $0.id == request.id() }) else {
            throw Refusal(.notFound, "Product with id '\(request.parameters["id"] ?? "")' not found")
        }
        return .json(product)
    }

    private func page(of all: [Product], _ request: RecordedRequest) throws -> MockResponse {
        let page = try Page(request)
        let products = page.of(all)
        return .json(Products(products: products, total: all.count, skip: page.skip, limit: products.count))
    }

    private struct Users: Encodable {
        let users: [Account]
        let total, skip, limit: Int
    }

    private struct Products: Encodable {
        let products: [Product]
        let total, skip, limit: Int
    }
}
