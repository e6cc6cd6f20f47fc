// SPDX-License-Identifier: MIT

import Curlew
import CurlewSampleAPI
import Testing

@Suite(.timeLimit(.minutes(1)))
struct DirectoryTests {
    private let sample: Sample

    init() throws {
        sample = try Sample()
    }

    @Test("Users decode from JSON")
    func users() async throws {
        let page: UserPage = try await sample.client.send(.get("/users"))
        #expect(page.total == 10)
        #expect(page.users.map(\.id) == Array(1...10))
        #expect(page.users[0].username == "emilys")
        #expect(page.users[0].height == 168.4)
    }

    @Test(
        "Limit and skip choose the part of the list, beside its total",
        arguments: [
            (QueryItems(), 1...10), (["limit": 3], 1...3), (["limit": 3, "skip": 8], 9...10), (["limit": 0], 1...10),
            (["skip": 4], 5...10),
        ] as [(QueryItems, ClosedRange<Int>)])
    func paging(query: QueryItems, ids: ClosedRange<Int>) async throws {
        let page: UserPage = try await sample.client.send(.get("/users", query: query))
        #expect(page.users.map(\.id) == Array(ids))
        #expect(page.total == 10)
        #expect(page.limit == ids.count)
        #expect(page.skip == ids.lowerBound - 1)
    }

    @Test("A part that is none gets 400", arguments: ["-1", "x", "1.5", "99999999999999999999", ""])
    func badPaging(limit: String) async throws {
        let error = await #expect(throws: NetworkError.self) {
            try await sample.client.send(.get("/users", query: ["limit": limit]))
        }
        #expect(error?.body(as: FilmError.self)?.code == "bad_limit")
    }

    @Test("One of a list is found by its number", arguments: ["/users/3", "/products/3"])
    func one(path: String) async throws {
        let answer: JSONValue = try await sample.client.send(Request.get("\(raw: path)"))
        #expect(answer["id"].int == 3)
    }

    @Test("An unknown number gets 404", arguments: ["/users/99", "/users/x", "/products/99", "/nothing"])
    func unknown(path: String) async throws {
        let error = await #expect(throws: NetworkError.self) {
            try await sample.client.send(Request<Void>.get("\(raw: path)"))
        }
        #expect(error?.isNotFound == true)
    }

    @Test(
        "A search looks at title and text, whatever the case",
        arguments: [("BIRD", [5]), ("scope", [3, 7]), ("zzz", [])] as [(String, [Int])])
    func search(text: String, ids: [Int]) async throws {
        let answer: JSONValue = try await sample.client.send(.get("/products/search", query: ["q": text]))
        #expect(answer["products"].array?.compactMap { $0["id"].int } == ids)
        #expect(answer["total"].int == ids.count)
    }

    @Test("The root lists the routes")
    func index() async throws {
        let answer: JSONValue = try await sample.client.send(.get("/"))
        let routes = answer["routes"].array?.compactMap(\.string) ?? []
        #expect(routes.contains("POST /auth/login"))
        #expect(routes.contains("GET /v1/films/:id"))
    }
}
