// SPDX-License-Identifier: MIT

import CurlewCaching
import TestServers
import Testing

@testable import CurlewSQLite

/// A database that another process holds, and one that is removed while it is in use.
@Suite(.timeLimit(.minutes(1)))
struct BusyStoreTests {
    let folder: TemporaryFolder
    let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path + "/cache.sqlite"
    }

    private func client(_ store: HTTPCache.SQLiteStore, rules: HTTPCache.Options = .standard) -> (
        APIClient, Locked<Int>
    ) {
        let version = Locked(1)
        let transport = ClosureTransport(changesPrincipal: false) { request, _ in
            if request.method == .put {
                version.withLock { $0 += 1 }
                return HTTPResponse(status: 204)
            }
            let body = Data("\(version.withLock { $0 })".utf8)
            return HTTPResponse(headers: [.cacheControl: "max-age=600"], body: ResponseBody(body))
        }
        let pipeline: Pipeline = [.caching(store: store, options: rules)]
        return (APIClient(baseURL: "https://a.example", pipeline: pipeline, transport: transport), version)
    }

    /// Holds the lock of writers, as a process does that was stopped in the middle of a change.
    private func hold() throws -> Connection {
        let other = try Connection(path: path, busyTimeout: .seconds(5))
        try other.execute("BEGIN IMMEDIATE")
        return other
    }

    @Test("While another process holds the database, hits are hits, and no call waits for a change")
    func held() async throws {
        let (client, _) = client(HTTPCache.SQLiteStore(path: path))
        let hit = Request<HTTPResponse>(.get, "/hit")
        _ = try await client.send(hit)
        while try await client.send(hit).served == .network {}
        let other = try hold()
        let start = SuspendingClock.now
        for _ in 0..<5 { #expect(try await client.send(hit).served != .network) }
        for number in 0..<4 {
            #expect(try await client.send(Request<HTTPResponse>(.get, "/miss/\(number)")).status == .ok)
        }
        // Five seconds are what SQLite waits for a lock. A change of the server costs a second at most.
        #expect(SuspendingClock.now - start < .seconds(4))
        withExtendedLifetime(other) {}
    }

    @Test("A change that cannot be noted while the database is held is noted later")
    func owed() async throws {
        var rules = HTTPCache.Options()
        rules.lookupTimeout = .milliseconds(100)
        let (client, _) = client(HTTPCache.SQLiteStore(path: path), rules: rules)
        func text() async throws -> String {
            try await client.send(Request<HTTPResponse>(.get, "/page")).text()
        }
        #expect(try await text() == "1")
        let other = try hold()
        _ = try await client.send(Request<HTTPResponse>(.put, "/page"))
        #expect(try await text() == "2")
        try other.execute("ROLLBACK")
        #expect(try await text() == "2")
    }

    @Test("A call whose time is over or that is cancelled does not wait for the store", arguments: [true, false])
    func deadline(isCancelled: Bool) async throws {
        let store = HTTPCache.SQLiteStore(path: path)
        let (client, _) = client(store)
        _ = try await client.send(Request<HTTPResponse>(.get, "/page"))
        // The thread of the store is busy for as long as the test wants.
        let (gate, blocking) = (DispatchSemaphore(value: 0), Locked(0))
        @Sendable func block() {
            blocking.withLock { $0 += 1 }
            gate.wait()
        }
        let blocked = [
            Task { try await store.queue.run { _ in block() } }, Task { try await store.queue.read { _ in block() } },
        ]
        #expect(await eventually { blocking.withLock { $0 } == 2 })
        var (options, rules) = (RequestOptions(), HTTPCache.Options())
        options.timeouts = Timeouts(total: isCancelled ? .seconds(60) : .milliseconds(100))
        rules.lookupTimeout = .seconds(60)
        let patient = self.client(store, rules: rules).0.with(options: options)
        let call = Task { try await patient.send(Request<HTTPResponse>(.get, "/page")) }
        if isCancelled { call.cancel() }
        #expect(await failureReason { try await call.value } == (isCancelled ? .cancelled : .timedOut(.total)))
        for _ in blocked { gate.signal() }
        for task in blocked { try await task.value }
    }

    @Test("A store whose files are removed while it is in use begins again")
    func gone() async throws {
        let store = HTTPCache.SQLiteStore(path: path)
        for round in 0..<3 {
            for size in [10, 200_000] {
                let head = try await store.put("https://a.example/\(size)", Data(count: size))
                #expect(try await store.bytes(of: head)?.count == size, "round \(round)")
            }
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            for name in names where round == 0 || name.hasSuffix("-bodies") {
                try FileManager.default.removeItem(atPath: folder.path + "/" + name)
            }
            // Another process has made the files again in the meantime.
            if round == 1 { _ = try await HTTPCache.SQLiteStore(path: path).put("https://a.example/other") }
        }
        let other = HTTPCache.SQLiteStore(path: path)
        let head = try await store.put("https://a.example/last")
        #expect(try await other.variants(for: head.key).count == 1, "both have one file")
    }
}
