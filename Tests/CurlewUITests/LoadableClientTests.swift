// SPDX-License-Identifier: MIT

import CurlewCaching
import CurlewUI
import Testing

@Suite(.timeLimit(.minutes(1)))
@MainActor
struct LoadableClientTests {
    private func client(_ answers: Locked<Int>, status: HTTPStatus = .ok) -> APIClient {
        APIClient(
            baseURL: "https://api.example", pipeline: [.caching()],
            transport: ClosureTransport(changesPrincipal: false) { _, _ in
                let number = answers.withLock { answers in
                    answers += 1
                    return answers
                }
                return HTTPResponse(
                    status: status,
                    headers: ["Content-Type": "text/plain", "Cache-Control": "max-age=60"],
                    body: ResponseBody(Data("answer \(number)".utf8)))
            })
    }

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @Test("A load may use the cache, a refresh asks the server")
    func caching() async {
        let answers = Locked(0)
        let client = client(answers)
        let request = Request<String>.get("/text")
        let first = Loadable(request, from: client)
        await first.load()
        #expect(first.value == "answer 1")
        let second = Loadable(request, from: client)
        await second.load()
        #expect(second.value == "answer 1")
        #expect(answers.withLock { $0 } == 1)
        await second.refresh()
        #expect(second.value == "answer 2")
        guard case .loaded(_, let freshness) = second.state else {
            Issue.record("not loaded")
            return
        }
        #expect(!freshness.isStale)
    }

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @Test("A refresh of a closure asks the server, and so do its child tasks and later calls")
    func closures() async {
        let answers = Locked(0)
        let client = client(answers)
        let text = Loadable { try await client.send(Request<String>.get("/text")) }
        await text.load()
        await text.refresh()
        #expect(text.value == "answer 2")
        let next = text.then { _ in try await client.send(Request<String>.get("/next")) }
        await next.load()
        #expect(next.value == "answer 3")
        await next.refresh()
        #expect(text.value == "answer 4" && next.value == "answer 5")
        let group = Loadable {
            async let one = client.send(Request<String>.get("/text"))
            return try await one
        }
        await group.load()
        #expect(group.value == "answer 4")
        await group.refresh()
        #expect(group.value == "answer 6")
    }

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @Test("A call's own cache policy stays as it is in a refresh")
    func ownPolicy() async {
        let answers = Locked(0)
        let client = client(answers)
        let only = Loadable {
            try await client.send(Request<String>.get("/text").options { $0.cachePolicy = .onlyIfCached })
        }
        await only.refresh()
        #expect(only.error == NetworkError(statusCode: 504) && answers.withLock { $0 } == 0)
    }

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @Test("A list of pages asks the server in a refresh, and for the pages after it")
    func pages() async {
        struct Line: Identifiable { let id: String }
        let answers = Locked(0)
        let client = client(answers)
        func list() -> PagedLoadable<Line, Int> {
            PagedLoadable { page in
                let text = try await client.send(Request<String>.get("/pages", query: ["page": page ?? 1]))
                return Page(items: [Line(id: text)], next: (page ?? 1) + 1)
            }
        }
        let first = list()
        await first.load()
        await first.loadMore()
        let second = list()
        await second.load()
        await second.loadMore()
        #expect(second.items.map(\.id) == ["answer 1", "answer 2"])
        await second.refresh()
        #expect(second.items.map(\.id) == ["answer 3"])
        await second.loadMore()
        #expect(second.items.map(\.id) == ["answer 3", "answer 4"])
    }

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @Test("A 503 shows as a server error")
    func unavailable() async {
        let films = Loadable(Request<String>.get("/films"), from: client(Locked(0), status: .serviceUnavailable))
        await films.load()
        #expect(films.error?.isServerError == true)
        #expect(films.value == nil)
    }

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @Test("A cancelled load of a client shows no error")
    func cancelled() async {
        let arrived = SharedResult<Void>()
        let client = APIClient(
            baseURL: "https://api.example", pipeline: .empty,
            transport: ClosureTransport { _, _ in
                arrived.finish(.success(()))
                try await SystemTime().sleep(for: .seconds(600))
                throw NetworkError(.unreachable)
            })
        let films = Loadable(Request<String>.get("/films"), from: client)
        let task = Task { await films.load() }
        try? await arrived.wait()
        task.cancel()
        await task.value
        #expect(films.error == nil)
        #expect(films.state.word == "idle")
    }
}
