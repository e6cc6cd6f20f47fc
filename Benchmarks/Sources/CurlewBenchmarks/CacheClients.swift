// SPDX-License-Identifier: MIT

import Curlew
import CurlewSQLite
import Foundation

/// What the cache costs: the same call with and without it, and the store alone.
enum CacheClients {
    static let calls = ["cache-none", "cache-memory", "cache-sqlite"]
    static let lookups = ["lookup-1000", "lookup-100000"]

    /// A call whose answer is read and not decoded; with the cache, the first of them is the only one on the network.
    static func call(_ name: String, url: String, transport: CurlTransport, _ work: Work) throws -> Clients.Call {
        guard case .bytes(let count) = work else { throw Failure("\(name) gets bytes") }
        let pipeline: Pipeline =
            switch name {
            case "cache-none": .standard
            case "cache-memory": .standard.adding(.caching()).adding(Fresh())
            default: .standard.adding(.caching(store: temporaryStore())).adding(Fresh())
            }
        let client = APIClient(baseURL: try BaseURL(url), pipeline: pipeline, transport: transport)
        let request = Request<Data>.get("/\(count).bin")
        return {
            guard try await client.send(request).count == count else { throw Failure("wrong answer") }
        }
    }

    private static let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("curlew-bench-\(ProcessInfo.processInfo.processIdentifier)")

    private static func temporaryStore() -> HTTPCache.SQLiteStore {
        HTTPCache.SQLiteStore(path: folder.appendingPathComponent("http.sqlite").path)
    }

    /// Removes what a store on the disk has left.
    static func removeFiles() {
        try? FileManager.default.removeItem(at: folder)
    }

    /// One entry after the other, in no order.
    static func lookup(_ name: String) async throws -> Clients.Call {
        let count = name == "lookup-1000" ? 1000 : 100_000
        let store = HTTPCache.MemoryStore(byteLimit: 1 << 30, entryLimit: count)
        for number in 0..<count {
            let now = Date()
            let writer = await store.write(
                HTTPCache.Entry(key: key(number), requestTime: now, responseTime: now), since: nil)
            _ = try await writer.append(Data(count: 200))
            _ = try await writer.commit(replacing: [])
        }
        return {
            // Many for each call, so that the call itself does not count.
            for _ in 0..<100 {
                guard let found = await store.find(key(.random(in: 0..<count))).variants.first,
                    await store.body(of: found)?.length == 200
                else { throw Failure("an entry is gone") }
            }
        }
    }

    private static func key(_ number: Int) -> HTTPCache.Entry.Key {
        HTTPCache.Entry.Key(target: "https://api.example/films/\(number)")
    }

    /// Says what the server of the benchmark does not: that the response is good for an hour.
    private struct Fresh: Interceptor {
        let traits = InterceptorTraits { _, _ in .anonymous }

        func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
            var response = try await next(request)
            response.headers["Cache-Control"] = "max-age=3600"
            return response
        }
    }
}
