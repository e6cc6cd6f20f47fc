// SPDX-License-Identifier: MIT

import Curlew
import CurlewSampleAPI
import CurlewTesting
import Testing

@testable import TeamDirectory

/// A gate that opens when this many are there: who comes alone waits until the test's time is over.
actor Gate {
    private let places: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(for places: Int) {
        self.places = places
    }

    func pass() async {
        await withCheckedContinuation { waiter in
            waiting.append(waiter)
            guard waiting.count == places else { return }
            for waiter in waiting { waiter.resume() }
        }
    }
}

/// A room that remembers its maximum occupancy and is left only when the test allows it.
actor Room {
    private(set) var most = 0
    private var guests: [CheckedContinuation<Void, Never>] = []
    private var watcher: (count: Int, continuation: CheckedContinuation<Void, Never>)?

    func visit() async {
        await withCheckedContinuation { guest in
            guests.append(guest)
            most = max(most, guests.count)
            wakeWatcher()
        }
    }

    /// Waits until there are this many, and lets the first one out.
    func release(whenThereAre count: Int) async {
        await withCheckedContinuation { continuation in
            watcher = (count, continuation)
            wakeWatcher()
        }
        guests.removeFirst().resume()
    }

    private func wakeWatcher() {
        guard let (count, continuation) = watcher, guests.count >= count else { return }
        watcher = nil
        continuation.resume()
    }
}

@Suite("The dashboard", .timeLimit(.minutes(1)))
@MainActor
struct DashboardTests {
    /// A client whose server answers when all three parts have been asked for.
    private func client() -> APIClient {
        let gate = Gate(for: 3)
        let parts = [
            "profile": #"{"name": "Ada", "role": "admin"}"#,
            "statistics": #"{"openTasks": 2, "closedTasks": 5}"#,
            "notifications": #"[{"id": 1, "text": "Hello", "isRead": false}]"#,
        ]
        return .mock { mock in
            for (name, text) in parts {
                mock.on(.get, "/team/dashboard/\(name)") { _ -> String in
                    await gate.pass()
                    return text
                }
            }
        }
    }

    @Test("all three calls are in progress before one ends, with async let")
    func asyncLet() async throws {
        let page = try await Dashboard.load(from: client())
        #expect(page.profile.name == "Ada")
        #expect(page.statistics.closedTasks == 5)
        #expect(page.notices.map(\.text) == ["Hello"])
    }

    @Test("all three calls are in progress before one ends, in a group")
    func group() async {
        let screen = DashboardScreen(client: client())
        await screen.all.load()
        #expect(screen.all.error == nil)
        #expect(screen.profile.value?.role == "admin")
        #expect(screen.statistics.value?.openTasks == 2)
        #expect(screen.notices.value?.count == 1)
    }

    @Test("a part that fails fails alone on the screen, and a retry asks for it only")
    func partFails() async throws {
        let api = try SampleAPI()
        defer { api.stop() }
        let mock = MockTransport {
            $0.on(.get, "/team/dashboard/profile", .json(text: #"{"name": "Ada", "role": "admin"}"#))
            $0.on(.get, "/team/dashboard/statistics", .status(503))
            $0.on(.get, "/team/dashboard/notifications", .json(text: "[]"))
        }
        let screen = DashboardScreen(client: .mock(mock))
        await screen.all.load()
        #expect(screen.all.error?.isServerError == true)
        #expect(screen.profile.value?.name == "Ada")
        await screen.all.retry()
        #expect(mock.requestCount == 4)

        let page = try await Dashboard.load(from: APIClient(baseURL: "\(api.url)"))
        #expect(page.notices.count == 3)
    }
}

@Suite("Many calls", .timeLimit(.minutes(1)))
struct FanOutTests {
    @Test("a fan-out never exceeds its bound, and uses it", arguments: [1, 3, 4, 12, 20])
    func bounded(limit: Int) async throws {
        let room = Room()
        let client = APIClient.mock {
            $0.on(.get, "/:picture") { call -> HTTPResponse in
                await room.visit()
                return HTTPResponse.text(call.path)
            }
        }
        let people = (0..<12).map { Person(id: $0, firstName: "P", image: "https://pictures.example/\($0)") }
        async let portraits = client.portraits(of: people, atMost: limit)
        for done in 0..<12 { await room.release(whenThereAre: min(limit, 12 - done)) }
        let texts = try await portraits.map { String(decoding: $0, as: UTF8.self) }
        #expect(texts == (0..<12).map { "/\($0)" })
        #expect(await room.most == min(limit, 12))
    }

    @Test("the first failure ends the others and is thrown")
    func failure() async {
        let error = await #expect(throws: NetworkError.self) {
            try await fanOut(Array(0..<100), atMost: 2) { number in
                guard number < 5 else { throw NetworkError(.unreachable) }
                return number
            }
        }
        #expect(error?.reason == .unreachable)
    }

    @Test("nothing to do is done at once")
    func empty() async throws {
        let nothing = try await fanOut([Int](), atMost: 4) { $0 }
        #expect(nothing.isEmpty)
    }
}

@Suite("The table of calls", .timeLimit(.minutes(1)))
struct CallTableTests {
    @Test("each call has a line; the second one finds the connection of the first")
    func lines() async throws {
        let api = try SampleAPI()
        defer { api.stop() }
        let table = CallTable()
        // A transport of its own: the shared one may serve the second call with another event loop, and so with a new
        // connection, while other tests keep the first one busy.
        #if os(Linux)
        let transport = CurlTransport()
        #else
        let transport = URLSessionTransport()
        #endif
        let client = APIClient(
            baseURL: "\(api.url)", pipeline: .empty, transport: transport,
            configuration: APIClient.Configuration(observers: [table]))
        _ = try await client.send(.team)
        #expect(try await client.send(.member(99)) == nil)
        await #expect(throws: NetworkError.self) {
            try await client.with(baseURL: "http://127.0.0.1:1").send(Request<Void>.post("/", name: "nobody"))
        }
        let lines = await table.finish()
        try #require(lines.count == 4)
        let words = lines.map { $0.split(separator: " ").map(String.init) }
        #expect(words[0].first == "call")
        #expect(words[1].prefix(2) == ["team", "200"])
        #expect(words[1].last == "new")
        for line in words[1...2] {
            let numbers = line.dropFirst(2).dropLast().compactMap { Double($0) }
            try #require(numbers.count == 6)
            let sum = numbers.dropLast().reduce(0, +)
            #expect(abs(sum - numbers[5]) < 0.01, "the phases add up: \(line)")
        }
        #expect(lines.allSatisfy { $0.count <= 78 })
        #expect(words[2].prefix(2) == ["member(_:)", "404"])
        #expect(words[2].last == "used")
        #expect(words[3].prefix(2) == ["nobody", "unreachable"])
    }
}
