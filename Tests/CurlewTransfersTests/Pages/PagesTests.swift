// SPDX-License-Identifier: MIT

import CurlewTransfers
import Testing

/// A server with a numbered list, in the forms that APIs use.
struct ListServer: Sendable {
    struct Films: Codable, Sendable, Equatable {
        var films: [Int]
        var next: String?
        var total: Int?
    }

    let count: Int
    var size = 10
    /// The largest page that the server sends, whatever the limit of the request is.
    var cap = Int.max
    let starts = Locked<[String]>([])

    var client: APIClient {
        APIClient.mock { mock in
            mock.onAny { [self] call in answer(call) }
        }
    }

    var requested: [String] { starts.withLock { $0 } }

    private func answer(_ call: RecordedRequest) -> HTTPResponse {
        starts.withLock { $0.append(call.request.target) }
        let start =
            Int(call.query["offset"] ?? call.query["cursor"] ?? "") ?? ((Int(call.query["page"] ?? "") ?? 1) - 1) * size
        let end = min(count, start + min(cap, Int(call.query["limit"] ?? "") ?? size))
        let films = start < end ? Array(start..<end) : []
        var headers = HTTPHeaders()
        if end < count { headers.append(.link, "</list?cursor=\(end)>; rel=\"next\", </list>; rel=first") }
        if call.path.utf8.starts(with: "/list".utf8) { return .json(films, headers: headers) }
        return .json(
            Films(films: films, next: end < count ? "\(end)" : nil, total: call.path == "/counted" ? count : nil))
    }
}

extension Request {
    static var list: Request<[Int]> { .get("/list") }
    static var films: Request<ListServer.Films> { .get("/films", query: ["kind": "silent", "cursor": "0"]) }
    static var counted: Request<ListServer.Films> { .get("/counted") }
}

@Suite(.timeLimit(.minutes(1)))
struct PagesTests {
    private func items<Value, Item>(_ items: Pages<Value>.Items<Item>) async throws(NetworkError) -> [Item] {
        var found: [Item] = []
        var iterator = items.makeAsyncIterator()
        while let item = try await iterator.next() { found.append(item) }
        return found
    }

    @Test("Links, cursors, offsets, numbers and custom positions reach every item")
    func strategies() async throws {
        let server = ListServer(count: 35)
        let client = server.client
        let expected = Array(0..<35)
        #expect(try await items(client.pages(.list, next: .link).items) == expected)
        #expect(server.requested == ["/list", "/list?cursor=10", "/list?cursor=20", "/list?cursor=30"])
        let cursors = client.pages(.films, next: .cursor(\.next, in: "cursor"))
        #expect(try await items(cursors.items(\.films)) == expected)
        #expect(server.requested.last == "/films?kind=silent&cursor=30")
        let offsets = client.pages(.films, next: .offset(limit: 20, items: \.films))
        #expect(try await items(offsets.items(\.films)) == expected)
        #expect(server.requested.last == "/films?kind=silent&cursor=0&offset=20&limit=20")
        let numbers = client.pages(.list, next: .number(in: "page", items: \.self))
        #expect(try await items(numbers.items) == expected)
        #expect(server.requested.suffix(5).first == "/list?page=1" && server.requested.last == "/list?page=5")
        let custom = client.pages(
            .films,
            next: .custom {
                $0.value.next
            } request: {
                $0.query = ["offset": $1]
            })
        #expect(try await items(custom.items(\.films)) == expected)
    }

    @Test("A list of offsets ends at a short page, an empty page or the total")
    func offsets() async throws {
        // A short page ends the list; a full last page costs one more request.
        for (count, requests) in [(0, 1), (9, 1), (10, 2), (25, 3)] {
            let server = ListServer(count: count)
            let pages = server.client.pages(.films, next: .offset(limit: 10, items: \.films))
            #expect(try await items(pages.items(\.films)) == Array(0..<count))
            #expect(server.requested.count == requests)
        }
        // With a total, a server may send fewer items than requested.
        let capped = ListServer(count: 25, cap: 4)
        let pages = capped.client.pages(
            .counted, next: .offset(limit: 10, in: ("offset", "limit"), items: \.films, total: \.total))
        #expect(try await items(pages.items(\.films)) == Array(0..<25) && capped.requested.count == 7)
    }

    @Test("A list continues from a stored position, also in another program")
    func resuming() async throws {
        let server = ListServer(count: 35)
        let client = server.client
        var stored: Data?
        for try await page in client.pages(.list, next: .link) where page.value.contains(15) {
            stored = try JSONEncoder().encode(page.next)
            break
        }
        let position = try JSONDecoder().decode(Pages<[Int]>.Position?.self, from: try #require(stored))
        #expect(try await items(client.pages(.list, next: .link, from: position).items) == Array(20..<35))
        #expect(server.requested == ["/list", "/list?cursor=10", "/list?cursor=20", "/list?cursor=30"])
        // A position of another kind of list is an error, not a list from the beginning.
        let numbers = client.pages(.list, next: .number(in: "page", items: \.self), from: position)
        let error = await failure { () async throws(NetworkError) in _ = try await items(numbers.items) }
        #expect(error?.reason == .invalidRequest)
    }

    @Test("A failure ends the sequence, and the position before it continues the list")
    func failing() async throws {
        let isDown = Locked(true)
        let client = APIClient.mock { mock in
            mock.onAny { call in
                guard let page = call.query["page"], page != "2" || !isDown.withLock({ $0 }) else {
                    return .status(503)
                }
                return .json(page == "4" ? [] : [Int(page) ?? 0])
            }
        }
        var iterator = client.pages(.list, next: .number(in: "page", items: \.self)).makeAsyncIterator()
        let first = try #require(try await iterator.next())
        await #expect(throws: NetworkError.self) { try await iterator.next() }
        #expect(try await iterator.next() == nil)
        isDown.withLock { $0 = false }
        let rest = client.pages(.list, next: .number(in: "page", items: \.self), from: first.next)
        #expect(try await items(rest.items) == [2, 3])
    }

    @Test("The page limit and loops end with an error")
    func guards() async throws {
        let server = ListServer(count: 35)
        let short = server.client.pages(.list, next: .link, pageLimit: 2)
        var seen = 0
        let limited = await failure { () async throws(NetworkError) in
            var iterator = short.items.makeAsyncIterator()
            while try await iterator.next() != nil { seen += 1 }
        }
        #expect(limited?.reason == .refused(by: .pages) && seen == 20 && server.requested.count == 2)
        // 0 → 1 → 2 → 1, and a page that leads to itself.
        for (targets, pages) in [
            (["/list?n=1", "/list?n=2", "/list?n=1"], 3), (["/list"], 1), (["/list?n=1", "/list"], 2),
        ] {
            let count = Locked(0)
            let client = APIClient.mock { mock in
                mock.onAny { _ in
                    let index = count.next() - 1
                    let headers: HTTPHeaders = [.link: "<\(targets[min(index, targets.count - 1)])>; rel=next"]
                    return .json([index], headers: headers)
                }
            }
            var values: [Int] = []
            let error = await failure { () async throws(NetworkError) in
                var iterator = client.pages(.list, next: .link).makeAsyncIterator()
                while let page = try await iterator.next() { values += page.value }
            }
            #expect(error?.reason == .refused(by: .pages), "\(targets)")
            #expect(values == Array(0..<pages) && count.withLock { $0 } == pages, "\(targets)")
        }
    }

    @Test("An endpoint is a list too, and its pages keep its decoding and options")
    func endpoints() async throws {
        struct GetList: Endpoint {
            typealias Response = [Int]
            var path: RequestPath { "/list" }
            var headers: HTTPHeaders { ["X-Own": "1"] }
            var options: RequestOptions {
                var options = RequestOptions()
                options.priority = .low
                return options
            }
            func decode(_ response: HTTPResponse, using codecs: Codecs) async throws -> [Int] {
                try await JSONDecoder().decode([Int].self, from: response.body.collect()).map { $0 * 2 }
            }
        }
        let client = ListServer(count: 25).client
        #expect(try await items(client.pages(GetList(), next: .link).items) == (0..<25).map { $0 * 2 })
        let calls = client.recordedCalls
        #expect(
            calls.count == 3 && calls.allSatisfy { $0.request.headers["X-Own"] == "1" && $0.routeName == "GetList" })
        #expect(calls.allSatisfy { $0.context.options.priority == .low })
    }

    @Test("Positions and pages show no secret")
    func descriptions() async throws {
        let client = APIClient.mock { $0.onAny { _ in .json(["a"], headers: [.link: "</x?token=secret>; rel=next"]) } }
        var iterator = client.pages(Request<[String]>.get("/list"), next: .link).makeAsyncIterator()
        let page = try #require(try await iterator.next())
        var text = "\(page) \(String(describing: page.next))"
        dump(page, to: &text)
        dump(page.next, to: &text)
        #expect(text.utf8.firstRange(of: "token=secret".utf8) == nil, "\(text)")
    }
}
