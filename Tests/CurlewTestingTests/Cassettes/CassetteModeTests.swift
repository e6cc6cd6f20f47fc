// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewTesting

@Suite(.timeLimit(.minutes(2)))
struct CassetteModeTests {
    /// Responds with the number of the request.
    static func counting() -> MockTransport {
        MockTransport { mock in
            let count = Locked(0)
            mock.onAny { call in
                let number = count.next()
                return .text("\(call.method) \(call.path) \(number)")
            }
        }
    }

    static let a = Request<String>.get("/a")
    static let b = Request<String>.get("/b")

    @Test("A recorded exchange is replayed without the transport, in the order of each route")
    func replay() async throws {
        let folder = try CassetteFolder()
        let path = try await record(folder, Self.counting()) { client in
            for call in [Self.b, Self.a, Self.a] { _ = try await client.send(call) }
        }
        let cassette = try Cassette(path, mode: .replay, recording: noNetwork)
        let client = client(cassette)
        #expect(try await client.send(Self.a) == "GET /a 2")
        #expect(try await client.send(Self.b) == "GET /b 1")
        #expect(cassette.unused == ["2: GET https://api.test/a"])
        #expect(throws: NetworkError.self) { try cassette.verify() }
        #expect(try await client.send(Self.a) == "GET /a 3")
        try await cassette.finish()
    }

    @Test("After the last recording, a request fails, or gets the last response again by choice")
    func exhaustion() async throws {
        let folder = try CassetteFolder()
        let path = try await record(folder, Self.counting()) { _ = try await $0.send(Self.a) }
        let strict = try Cassette(path, mode: .replay)
        _ = try await client(strict).send(Self.a)
        let error = await #expect(throws: NetworkError.self) { try await client(strict).send(Self.a) }
        #expect(error?.reason == .refused(by: .cassette))
        #expect(error?.detail == "All 1 recordings of GET https://api.test/a were replayed.")
        #expect(strict.problems.count == 1)

        var options = Cassette.Options()
        options.exhaustion = .repeatLast
        let patient = try Cassette(path, mode: .replay, options: options)
        for _ in 0..<3 { #expect(try await client(patient).send(Self.a) == "GET /a 1") }
        try patient.verify()
    }

    @Test("The mode `new` replays what matches and records the rest; other entries stay unchanged")
    func recordNew() async throws {
        let folder = try CassetteFolder()
        let path = try await record(folder, Self.counting()) { _ = try await $0.send(Self.b) }
        let before = try folder.text()
        let mock = Self.counting()
        _ = try await record(folder, mock) { client in
            #expect(try await client.send(Self.b) == "GET /b 1")
            #expect(
                try await client.send(Self.b) == "GET /b 1", "the second request is new, and the first of this mock")
            _ = try await client.send(Self.a)
        }
        #expect(mock.requestCount == 2)
        let cassette = try Cassette(path, mode: .replay)
        #expect(try await client(cassette).send(Self.a) == "GET /a 2")
        #expect(try await client(cassette).send(Self.b) == "GET /b 1")
        let after = try folder.text()
        let old = before.split(separator: "\n").filter { $0.contains("startedDateTime") }
        #expect(old.allSatisfy { after.contains($0) } && !old.isEmpty)
        _ = try await record(folder, Self.counting()) { _ = try await $0.send(Self.b) }
    }

    @Test("The mode `all` starts anew, and keeps the text of exchanges that did not change")
    func recordAll() async throws {
        let folder = try CassetteFolder()
        _ = try await record(folder, Self.counting()) { client in
            _ = try await client.send(Self.a)
            _ = try await client.send(.get("/gone") as Request<String>)
        }
        let first = try folder.text()
        _ = try await record(folder, Self.counting(), mode: .recordAll) { _ = try await $0.send(Self.a) }
        let second = try folder.text()
        #expect(first.contains("/gone") && !second.contains("/gone"))
        #expect(second.split(separator: "\n").allSatisfy { first.contains($0.trimmingSuffix(",")) }, "no line is new")
    }

    @Test("A file that nothing was recorded for stays unchanged")
    func nothing() async throws {
        let folder = try CassetteFolder()
        _ = try await record(folder, Self.counting(), mode: .recordAll) { _ in }
        #expect(!FileManager.default.fileExists(atPath: folder.path()))
    }

    @Test("The environment chooses the mode; an unknown one is an error that names the others")
    func environment() throws {
        #expect(try Cassette.Mode.named("") == .replay)
        #expect(try Cassette.Mode.named("NEW") == .recordNew)
        #expect(try Cassette.Mode.named("all") == .recordAll)
        let error = #expect(throws: NetworkError.self) { try Cassette.Mode.named("once") }
        #expect(error?.reason == .configuration && error?.hint == "Use one of: replay, new, all.")
    }

    @Test("A missing file and a missing transport are errors that say what to do")
    func missing() throws {
        let folder = try CassetteFolder()
        let missing = #expect(throws: NetworkError.self) { try Cassette(folder.path(), mode: .replay) }
        #expect(missing?.reason == .storage)
        #expect(missing?.hint == "Record it: run the test once with CURLEW_CASSETTES=new.")
        #expect(thrownReason { try Cassette(folder.path(), mode: .recordNew) } == .configuration)
    }

    @Test("The shutdown of a client saves, and only the owner can read the file")
    func shutdown() async throws {
        let folder = try CassetteFolder()
        let cassette = try Cassette(folder.path(), mode: .recordNew, recording: Self.counting())
        _ = try await client(cassette).send(Self.a)
        await cassette.shutdown(.now)
        let mode = try FileManager.default.attributesOfItem(atPath: folder.path())[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(try Cassette(folder.path(), mode: .replay).count == 1)
    }

    @Test("Concurrent calls are replayed once each")
    func concurrent() async throws {
        let folder = try CassetteFolder()
        let path = try await record(folder, Self.counting()) { client in
            for _ in 0..<200 { _ = try await client.send(Self.a) }
        }
        let cassette = try Cassette(path, mode: .replay)
        let client = client(cassette)
        let texts = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<200 { group.addTask { try await client.send(Self.a) } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(texts.count == 200)
        try cassette.verify()
    }
}

extension Substring {
    fileprivate func trimmingSuffix(_ suffix: String) -> Substring { hasSuffix(suffix) ? dropLast(suffix.count) : self }
}
