// SPDX-License-Identifier: MIT

import Curlew
import CurlewUI

nonisolated struct Shelf: Decodable {
    let films: [Film]
    let nextCursor: String?
}

extension Request {
    static var shelf: Request<Shelf> { .get("/shelf") }
    static var allSeen: Request<[SeenFilm]> { .get("/seen") }
    static func search(_ text: String) -> Request<Shelf> { .post("/search", body: .json(["text": .init(text)])) }
}

enum PagesPage {
    static func loops(_ client: APIClient) async throws {
        for try await page in client.pages(.films, next: .link) {
            print(page.value.count, page.response.headers["X-Total"] ?? "")
        }
        for try await film in client.pages(.films, next: .link).items {
            print(film.title)
        }
    }

    static func cursors(_ client: APIClient) async throws {
        let pages = client.pages(.shelf, next: .cursor(\.nextCursor, in: "cursor"))
        for try await film in pages.items(\.films) {
            print(film.title)
        }
    }

    static func custom(_ client: APIClient) async throws -> [String] {
        let found = client.pages(
            .search("moon"),
            next: .custom { response in
                response.value.nextCursor
            } request: { request, cursor in
                request.content = .json(["text": "moon", "after": .init(cursor)])
            })

        return try await found.items(\.films).reduce(into: []) { $0.append($1.title) }
    }

    static func later(_ client: APIClient, _ stored: Data?, save: ([Film]) throws -> Void) async throws {
        var position = try stored.map { try JSONDecoder().decode(Pages<[Film]>.Position.self, from: $0) }
        for try await page in client.pages(.films, next: .link, from: position) {
            try save(page.value)
            position = page.next
        }

        _ = position
    }

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @MainActor
    static func screen(_ client: APIClient) -> PagedLoadable<SeenFilm, Pages<[SeenFilm]>.Position> {
        let films = PagedLoadable<SeenFilm, Pages<[SeenFilm]>.Position> { position in
            let page = try await client.pages(.allSeen, next: .link, from: position).first()
            return Page(items: page?.value ?? [], next: page?.next)
        }

        return films
    }
}
