// SPDX-License-Identifier: MIT

import CurlewAuthentication
import CurlewCaching
import CurlewResilience
import TestServers
import Testing

@testable import CurlewCore
@testable import CurlewRecording

@Suite(.timeLimit(.minutes(2)))
struct FlightRecorderTests {
    private let plain = MockTransport { $0.onAny { _ in .text("fine") } }

    private func client(
        _ recorder: FlightRecorder, _ pipeline: Pipeline = .empty, _ configure: (MockTransport) -> Void
    ) -> APIClient {
        APIClient.testing(
            MockTransport(configure), baseURL: "https://a.test", pipeline: pipeline.adding(.recording(recorder)))
    }

    @Test("A call is recorded with its request as sent, its response and its times")
    func call() async throws {
        let recorder = FlightRecorder()
        let client = client(recorder, [.onRequest { request, _ in request.headers["X-Test"] = "1" }]) {
            $0.on(.get, "/users/:id", .json(text: "{}"))
        }
        try await client.send(.get("/users/1", query: ["page": 2]))
        let record = try #require(recorder.records.first)
        #expect(recorder.records.count == 1 && record.requestCount == 1 && record.outcome == .response(.ok))
        #expect(record.duration != nil)
        let entry = try #require(record.entries.first)
        #expect(entry.request.url == "https://a.test/users/1?page=2")
        #expect(entry.request.headers.contains { $0.name == "X-Test" && $0.value == "1" })
        #expect(entry.response.status == 200 && entry.response.content.mimeType == "application/json")
        #expect(entry.facts?.call == record.call && entry.facts?.request == 1 && entry.facts?.failed == false)
        #expect(entry.response.content.text == nil && entry.response.content.size == 2)
        #expect(recorder.curlCommands().first?.contains("'https://a.test/users/1?page=2'") == true)
        #expect("\(record)".contains(": 200, 1 request, "))
    }

    @Test("The ring keeps the last calls")
    func ring() async throws {
        let recorder = FlightRecorder(capacity: 3)
        let client = client(recorder) { $0.onAny { _ in .status(204) } }
        for number in 1...10 { try await client.send(.get("/\(number)")) }
        #expect(recorder.records.flatMap(\.entries).map(\.request.url) == (8...10).map { "https://a.test/\($0)" })
        recorder.removeAll()
        #expect(recorder.records.isEmpty && recorder.size == 0)
        try await client.send(.get("/11"))
        #expect(recorder.records.count == 1)
    }

    @Test("The recording is limited in size, and the size is that of the records")
    func memory() async throws {
        let recorder = FlightRecorder(capacity: 1000, memory: 40_000, bodies: .upTo(4096))
        let text = String(repeating: "a", count: 4000)
        let client = client(recorder) { $0.onAny { _ in .text(text) } }
        for number in 1...50 { try await client.send(.get("/\(number)")) }
        #expect((5...10).contains(recorder.records.count))
        #expect(recorder.size <= 40_000)
        #expect(recorder.size == recorder.records.reduce(0) { $0 + $1.bytes })
        #expect(recorder.records.last?.entries.first?.request.url == "https://a.test/50")
        let none = FlightRecorder(memory: 0)
        try await self.client(none) { $0.onAny { _ in .status(204) } }.send(.get("/"))
        #expect(none.records.isEmpty)
    }

    @Test("Concurrent calls of several clients are recorded completely")
    func concurrency() async throws {
        let recorder = FlightRecorder(capacity: 500)
        let clients = (0..<4).map { _ in client(recorder, [.retry()]) { $0.onAny { _ in .text("x") } } }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<400 { group.addTask { try await clients[number % 4].send(.get("/\(number)")) } }
            try await group.waitForAll()
        }
        let records = recorder.records
        #expect(records.count == 400 && records.allSatisfy { $0.outcome == .response(.ok) && $0.requestCount == 1 })
        #expect(Set(records.flatMap(\.entries).map(\.request.url)).count == 400)
        #expect(records.flatMap(\.entries).allSatisfy { ($0.facts?.total ?? -1) >= 0 })
    }

    @Test("Retries are attempts of one call, with the reasons")
    func retries() async throws {
        let recorder = FlightRecorder()
        let count = Locked(0)
        let clock = ManualClock(skipsWaits: true)
        let client = APIClient(
            baseURL: "https://a.test", pipeline: [.retry(.attempts(3)), .recording(recorder)],
            transport: MockTransport {
                $0.onAny { _ in
                    let number = count.next()
                    return number < 3 ? .status(503) : .text("fine")
                }
            }, configuration: APIClient.Configuration(time: clock))
        try await client.send(.get("/"))
        let entries = try #require(recorder.records.first).entries
        #expect(entries.map(\.response.status) == [503, 503, 200])
        #expect(entries.compactMap(\.facts?.attempt) == [1, 2, 3])
        #expect(entries[0].facts?.decisions?.first?.text.contains("because the failure may be temporary") == true)
        #expect(recorder.htmlReport().contains("because the failure may be temporary"))
    }

    @Test("Redirects are hops of one call; a failure has its reason")
    func redirects() async throws {
        let recorder = FlightRecorder()
        let client = client(recorder, .standard) {
            $0.on(.get, "/a", .status(302, headers: [.location: "/b"]))
            $0.on(.get, "/b", .text("end"))
            $0.fail(.post, "/c", with: NetworkError(.unreachable, detail: "No route."))
        }
        try await client.send(.get("/a"))
        let entries = try #require(recorder.records.first).entries
        #expect(entries.compactMap(\.facts?.hop) == [0, 1])
        #expect(entries[0].response.redirectURL == "/b")
        #expect(entries[0].facts?.decisions?.contains { $0.name == "redirect.followed" } == true)
        await #expect(throws: NetworkError.self) { try await client.send(.post("/c")) }
        let failed = try #require(recorder.records.last)
        guard case .failed(let text) = failed.outcome else { return #expect(Bool(false), "\(failed)") }
        #expect(text.contains("unreachable") && text.contains("No route."))
        #expect(failed.entries.first?.response.status == 0)
        #expect(failed.entries.first?.response.error?.contains("unreachable") == true)
    }

    @Test("A cached response is a call without a request; a shared call names the other call")
    func cache() async throws {
        let recorder = FlightRecorder()
        let client = client(recorder, [.coalescing(), .caching()]) {
            $0.on(.get, "/", .text("fresh", headers: [.cacheControl: "max-age=60"]))
            $0.on(.get, "/slow") { _ -> HTTPResponse in
                try await yieldUntil {
                    recorder.records.contains { $0.decisions.contains { $0.name == "joined" } }
                }
                return .text("shared")
            }
        }
        try await client.send(.get("/"))
        try await client.send(.get("/"))
        let entry = try #require(recorder.records.last?.entries.first)
        #expect(entry.facts?.request == 0 && entry.response.status == 200)
        #expect(entry.facts?.decisions?.contains { $0.name == "cache.fresh" } == true)
        #expect(recorder.curlCommands().count == 1)
        async let one: Void = client.send(.get("/slow"))
        async let two: Void = client.send(.get("/slow"))
        _ = try await (one, two)
        let shared = recorder.records.suffix(2)
        #expect(shared.map(\.requestCount).sorted() == [0, 1])
        #expect(shared.allSatisfy { $0.outcome == .response(.ok) })
        let joined = try #require(shared.first { $0.requestCount == 0 }?.entries.first)
        #expect(joined.facts?.decisions?.first?.text.contains("of call ") == true)
    }

    @Test("A refreshed token is seen, and its call is recorded, without tokens")
    func tokens() async throws {
        let recorder = FlightRecorder(bodies: .upTo())
        let client = client(recorder) {
            $0.on(.get, "/me") { call -> HTTPResponse in
                call.request.headers[.authorization] == "Bearer new" ? .text("me") : .status(401)
            }
        }
        let store = TokenStore()
        try await store.signIn(Tokens(accessToken: "hunter2", refreshToken: "hunter2"))
        let signedIn = client.adding(.bearer(store) { _ in Tokens(accessToken: "new", refreshToken: "hunter2") })
        try await signedIn.send(.get("/me"))
        let entries = try #require(recorder.records.first).entries
        #expect(entries.map(\.response.status) == [401, 200])
        #expect(entries.flatMap { $0.facts?.decisions ?? [] }.contains { $0.name == "token.renewed" })
        #expect(!String(decoding: try recorder.har().data(), as: UTF8.self).contains("hunter2"))
    }

    @Test("Both requests of a hedged attempt are recorded")
    func hedging() async throws {
        let recorder = FlightRecorder()
        let client = client(recorder, [.hedging(after: .milliseconds(1))]) {
            $0.on(.get, "/") { _ -> HTTPResponse in
                try await yieldUntil { recorder.records.first?.requestCount == 2 }
                return .text("x")
            }
        }
        try await client.send(.get("/"))
        let entries = try #require(recorder.records.first).entries
        #expect(entries.count == 2 && Set(entries.compactMap(\.facts?.request)) == [1, 2])
    }

    @Test("A call whose request could not be built is recorded as failed")
    func unbuilt() async throws {
        let recorder = FlightRecorder()
        let client = client(recorder) { $0.onAny { _ in .status(204) } }
        await #expect(throws: NetworkError.self) { try await client.send(.get("/\("..")")) }
        let record = try #require(recorder.records.first)
        #expect(record.requestCount == 0 && record.entries.isEmpty)
        guard case .failed = record.outcome else { return #expect(Bool(false), "\(record)") }
    }

    @Test("Failures reach the action, cancelled calls do not")
    func action() async throws {
        let seen = Locked<[FlightRecorder.Record]>([])
        let recorder = FlightRecorder(onFailure: .call { record in seen.withLock { $0.append(record) } })
        let client = client(recorder) {
            $0.on(.get, "/bad", .status(500))
            $0.fail(.get, "/gone", with: NetworkError(.cancelled))
        }
        await #expect(throws: NetworkError.self) { try await client.send(.get("/gone")) }
        await #expect(throws: NetworkError.self) { try await client.send(.get("/bad")) }
        try await yieldUntil { seen.withLock { !$0.isEmpty } }
        #expect(seen.withLock { $0.map(\.entries.first?.response.status) } == [500])
    }

    @Test("Failures are written to private files, of which the oldest are removed")
    func files() async throws {
        let folder = try TemporaryFolder()
        _ = try folder.file("other.har", "kept")
        let problems = Locked(0)
        let recorder = FlightRecorder(
            onFailure: .writeFiles(to: folder.path, limit: 3) { _ in problems.withLock { $0 += 1 } })
        let client = client(recorder) { $0.onAny { _ in .status(500) } }
        func names() -> [String] {
            (try? FileManager.default.contentsOfDirectory(atPath: folder.path))?.filter { $0.hasPrefix("curlew-") }
                .sorted()
                ?? []
        }
        for number in 1...6 {
            await #expect(throws: NetworkError.self) { try await client.send(.get("/\(number)")) }
            let call = try #require(recorder.records.last).call
            try await yieldUntil { names().contains { $0.hasSuffix("-\(call).har") } && names().count <= 3 }
        }
        #expect(names().count == 3)
        let last = folder.path + "/" + (names().last ?? "")
        let mode = try FileManager.default.attributesOfItem(atPath: last)[.posixPermissions] as? NSNumber
        #expect(mode?.intValue == 0o600)
        let document = try HARDocument(Data(contentsOf: URL(fileURLWithPath: last)))
        #expect(document.entries.map(\.request.url) == ["https://a.test/6"])
        #expect(FileManager.default.fileExists(atPath: folder.path + "/other.har"))
        #expect(problems.withLock { $0 } == 0)
    }

    @Test("A folder that does not exist is reported")
    func missingFolder() async throws {
        let problem = Locked<NetworkError?>(nil)
        let recorder = FlightRecorder(
            onFailure: .writeFiles(to: "/nonexistent/folder") { error in problem.withLock { $0 = error } })
        let client = client(recorder) { $0.onAny { _ in .status(500) } }
        await #expect(throws: NetworkError.self) { try await client.send(.get("/")) }
        try await yieldUntil { problem.withLock { $0 != nil } }
        #expect(problem.withLock { $0?.reason } == .storage)
    }
}
