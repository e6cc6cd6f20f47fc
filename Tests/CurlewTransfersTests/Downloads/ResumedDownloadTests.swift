// SPDX-License-Identifier: MIT

import CurlewTransfers
import TestServers
import Testing

/// Downloads that are continued after lost connections, failures and the end of a process.
@Suite(.timeLimit(.minutes(1)))
struct ResumedDownloadTests {
    private let folder: TemporaryFolder
    private var path: String { folder.appendingPathComponent("film.mp4").path }

    init() throws { folder = try TemporaryFolder() }

    private var names: [String] { get throws { try folder.names } }

    private func saved(_ name: String = "film.mp4") throws -> Data {
        try Data(contentsOf: folder.appendingPathComponent(name))
    }

    private static let film = Request<Data>.get("/film")

    @Test("A download with 50 lost connections receives each byte once, and one buffer for each cut")
    func cuts() async throws {
        let seed = UInt64.random(in: .min ... .max)
        var generator = SeededGenerator(seed: seed)
        let content = RangeServer.bytes(5_000_000, &generator)
        let server = RangeServer(content) { state in
            state.cuts = (0..<50).map { _ in Int.random(in: 65_536..<96_000, using: &generator) }
        }
        let values = Locked<[TransferProgress]>([])
        let response = try await server.client().download(Self.film, to: path) { value in
            values.withLock { $0.append(value) }
        }
        #expect(try saved() == content, "seed \(seed)")
        #expect(response.value.path == path && response.value.byteCount == 5_000_000)
        #expect(server.requests.count == 51 && server.sent == 5_000_000)
        #expect(try names == ["film.mp4"])
        let all = values.withLock { $0 }
        #expect(all.first?.completed == 0 && all.last?.completed == 5_000_000 && all.last?.isLast == true)
        #expect(zip(all, all.dropFirst()).allSatisfy { $0.completed <= $1.completed && $0.total == 5_000_000 })
    }

    @Test("A download that failed is continued by the next call, also of another client")
    func nextCall() async throws {
        let seed = UInt64.random(in: .min ... .max)
        var generator = SeededGenerator(seed: seed)
        let content = RangeServer.bytes(1_000_000, &generator)
        let server = RangeServer(content) { $0.cuts = [700_000] + Array(repeating: 0, count: 8) }
        let error = await #expect(throws: NetworkError.self) { try await server.client().download(Self.film, to: path) }
        #expect(error?.reason == .connectionLost(.requestMayHaveArrived))
        #expect(try names == ["film.mp4.part", "film.mp4.part.state"])
        let response = try await server.client().download(Self.film, to: path)
        #expect(try saved() == content && names == ["film.mp4"])
        #expect(response.value.resumedByteCount == 700_000 && response.status == .partialContent)
        #expect(server.sent == 1_000_000)
    }

    @Test("A cancelled download is continued later")
    func cancelled() async throws {
        let seed = UInt64.random(in: .min ... .max)
        var generator = SeededGenerator(seed: seed)
        let content = RangeServer.bytes(1_000_000, &generator)
        let server = RangeServer(content)
        let task = Locked<Task<Void, any Error>?>(nil)
        let client = server.client()
        let running = Task { [path] in
            _ = try await client.download(Self.film, to: path) { value in
                if value.completed > 0 { task.withLock { $0?.cancel() } }
            }
        }
        task.withLock { $0 = running }
        _ = await running.result
        if try names != ["film.mp4"] {
            try await client.download(Self.film, to: path)
        }
        #expect(try saved() == content && names == ["film.mp4"])
    }

    @Test("A file that changes between two parts is received anew, whole", arguments: [1, 2, 3])
    func changes(times: Int) async throws {
        let seed = UInt64.random(in: .min ... .max)
        var generator = SeededGenerator(seed: seed)
        let versions = (0...times).map { _ in
            RangeServer.bytes(400_000 + Int.random(in: 0..<1000, using: &generator), &generator)
        }
        let number = Locked(0)
        let server = RangeServer(versions[0]) { state in
            state.cuts = (0..<times).map { _ in 200_000 }
            state.onRequest = { state in
                let index = number.withLock { number in
                    defer { number += 1 }
                    return min(number, times)
                }
                state.content = versions[index]
                state.tag = "\"v\(index)\""
            }
        }
        try await server.client().download(Self.film, to: path)
        #expect(try saved() == versions[times])
        #expect(server.requests.dropFirst().allSatisfy { $0.headers["If-Range"] != nil })
    }

    @Test("A part of another version is never mixed in, even if the server ignores If-Range")
    func ignoresCondition() async throws {
        let old = Data(repeating: 1, count: 300_000)
        let new = Data(repeating: 2, count: 300_000)
        let server = RangeServer(old) { $0.cuts = [100_000] }
        let headers: HTTPHeaders = [
            .eTag: "\"v2\"", .contentRange: "bytes 100000-299999/300000", "Accept-Ranges": "bytes",
        ]
        server.state.withLock { state in
            state.onRequest = { state in
                guard state.requests.count == 2 else { return }
                state.replies = [
                    HTTPResponse(status: .partialContent, headers: headers, body: ResponseBody(new.prefix(200_000)))
                ]
                state.content = new
                state.tag = "\"v2\""
            }
        }
        try await server.client().download(Self.film, to: path)
        #expect(try saved() == new)
    }

    @Test(
        "A part that was not requested is discarded, and the file is received without ranges",
        arguments: [
            ["Content-Range": "bytes 0-99/300000"], ["Content-Range": "bytes 100000-299999/400000"],
            ["Content-Range": "pages 1-2/3"], [:],
            ["Content-Range": "bytes 100000-299999/300000", "Content-Encoding": "gzip"],
            ["Content-Range": "bytes 100001-299999/300000"],
        ] as [[String: String]])
    func wrongParts(fields: [String: String]) async throws {
        let content = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        let server = RangeServer(content) { $0.cuts = [100_000] }
        server.state.withLock { state in
            state.onRequest = { state in
                guard state.requests.count == 2 else { return }
                var response = HTTPResponse(
                    status: .partialContent, headers: [.eTag: "\"v1\""], body: ResponseBody(Data("wrong".utf8)))
                for (name, value) in fields { response.headers[HTTPField.Name(name)] = value }
                state.replies = [response]
            }
        }
        try await server.client().download(Self.film, to: path)
        #expect(try saved() == content && names == ["film.mp4"])
    }

    @Test("A server without ranges or validators sends the complete file; the partial one is removed")
    func withoutRanges() async throws {
        for (tag, ranges, declares) in [(nil, true, true), ("W/\"1\"", true, true), ("\"1\"", true, false)] {
            let server = RangeServer(Data(repeating: 3, count: 200_000)) { state in
                (state.tag, state.supportsRanges, state.declaresLength) = (tag, ranges, declares)
                state.cuts = [100_000]
            }
            await #expect(throws: NetworkError.self) { try await server.client().download(Self.film, to: path) }
            #expect(try names.isEmpty)
            #expect(server.requests.count == 1)
        }
        // With a validator, a server that ignores ranges sends the file again.
        let server = RangeServer(Data(repeating: 4, count: 200_000)) { state in
            state.supportsRanges = false
            state.cuts = [150_000, 199_999]
        }
        try await server.client().download(Self.film, to: path)
        #expect(try saved().count == 200_000)
        #expect(server.requests.count == 3)
    }

    @Test("A partial file of another URL is not continued, unless a key says that it is the same file")
    func keys() async throws {
        let content = Data((0..<500_000).map { UInt8(truncatingIfNeeded: $0 / 3) })
        func get(_ query: Int, _ server: RangeServer, _ key: String?) async throws -> FileDownload.File {
            let options = FileDownload.Options(existing: .replace, resumeKey: key)
            return try await server.client().download(
                Request<Data>.get("/film", query: ["signature": query]), to: path, options: options
            ).value
        }
        for (key, resumed) in [(nil, 0), ("film-7", 300_000)] as [(String?, Int64)] {
            let server = RangeServer(content) { $0.cuts = [300_000] + Array(repeating: 0, count: 8) }
            await #expect(throws: NetworkError.self) { _ = try await get(1, server, key) }
            #expect(try await get(2, server, key).resumedByteCount == resumed)
            #expect(try saved() == content)
        }
    }

    @Test("A signed URL that expires is made anew, and the download continues")
    func renewing() async throws {
        let content = Data((0..<500_000).map { UInt8(truncatingIfNeeded: $0 / 5) })
        let server = RangeServer(content) { $0.cuts = [300_000] }
        server.state.withLock { state in
            state.onRequest = { state in
                guard let last = state.requests.last, state.requests.count == 2 else { return }
                #expect(last.target == "/film?signature=1")
                state.replies = [HTTPResponse(status: .forbidden)]
            }
        }
        let number = Locked(1)
        var options = FileDownload.Options()
        options.renewing = {
            let next = number.next()
            return Request<Data>.get("/film", query: ["signature": next])
        }
        let first = Request<Data>.get("/film", query: ["signature": 1])
        try await server.client().download(first, to: path, options: options)
        #expect(try saved() == content)
        #expect(server.requests.map(\.target) == ["/film?signature=1", "/film?signature=1", "/film?signature=2"])
        #expect(server.ranges == [nil, "bytes=300000-", "bytes=300000-"])
    }

    @Test("A range that no longer exists begins the file anew")
    func shorter() async throws {
        let server = RangeServer(Data(repeating: 1, count: 300_000)) { state in
            state.cuts = [200_000]
            state.onRequest = { state in
                guard state.requests.count == 2 else { return }
                state.replies = [HTTPResponse(status: .rangeNotSatisfiable)]
                state.content = Data(repeating: 2, count: 100)
                state.tag = "\"v2\""
            }
        }
        try await server.client().download(Self.film, to: path)
        #expect(try saved() == Data(repeating: 2, count: 100))
    }

    @Test("A process that ended before the file had its name asks for one byte and finishes")
    func complete() async throws {
        let content = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 9) })
        let server = RangeServer(content) { $0.cuts = [299_999] + Array(repeating: 0, count: 8) }
        await #expect(throws: NetworkError.self) { try await server.client().download(Self.film, to: path) }
        // As if the last byte had been written too.
        let part = try FileHandle(forWritingTo: folder.appendingPathComponent("film.mp4.part"))
        try part.seekToEnd()
        try part.write(contentsOf: content.suffix(1))
        let record = folder.appendingPathComponent("film.mp4.part.state")
        var bytes = try Data(contentsOf: record)
        bytes.replaceSubrange(4096..<4104, with: (0..<8).map { UInt8(truncatingIfNeeded: 300_000 >> (8 * $0)) })
        try bytes.write(to: record)
        try await server.client().download(Self.film, to: path)
        #expect(try saved() == content)
        #expect(server.ranges.last == "bytes=299999-")
    }

    @Test("A damaged record or partial file is received anew", arguments: 0..<6)
    func damage(kind: Int) async throws {
        let content = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 9) })
        let server = RangeServer(content) { $0.cuts = [200_000] + Array(repeating: 0, count: 8) }
        await #expect(throws: NetworkError.self) { try await server.client().download(Self.film, to: path) }
        let record = folder.appendingPathComponent("film.mp4.part.state")
        let part = folder.appendingPathComponent("film.mp4.part")
        var bytes = try Data(contentsOf: record)
        switch kind {
        case 0: bytes = Data()
        case 1: bytes = bytes.prefix(100)
        case 2: bytes.replaceSubrange(4096..<4104, with: Data(repeating: 0xFF, count: 8))
        case 3: bytes.replaceSubrange(0..<1, with: Data("[".utf8))
        case 4: try Data("short".utf8).write(to: part)
        default: try FileManager.default.removeItem(at: part)
        }
        if kind < 4 { try bytes.write(to: record) }
        try await server.client().download(Self.film, to: path)
        #expect(try saved() == content && names == ["film.mp4"])
    }

    @Test("The digests that the caller or the server names are checked", arguments: [false, true])
    func digests(isRight: Bool) async throws {
        let content = Data("The quick brown fox jumps over the lazy dog".utf8)
        let hex = "d7a8fbb307d7809469ca9abcb0082e4f8d5651e46d3cdb762d02d0bf37c9e592"
        let options = FileDownload.Options(
            existing: .replace, checksum: .sha256((isRight ? "D7" : "D8") + hex.dropFirst(2)))
        let plain = RangeServer(content)
        if isRight {
            try await plain.client().download(Self.film, to: path, options: options)
            #expect(try saved() == content)
        } else {
            let error = await #expect(throws: NetworkError.self) {
                try await plain.client().download(Self.film, to: path, options: options)
            }
            #expect(error?.reason == .badResponse)
            #expect(try names.isEmpty)
        }
        let digest = MessageDigest.sha256(content).base64EncodedString()
        for name in ["Repr-Digest", "Content-Digest"] {
            let server = RangeServer(content) { state in
                state.headers[HTTPField.Name(name)] =
                    "sha-256=:\(isRight ? digest : Data(repeating: 0, count: 32).base64EncodedString()):"
            }
            let client = server.client()
            let result = await Task { [path] in
                try await client.download(
                    Self.film, to: path, options: FileDownload.Options(existing: .replace))
            }.result
            #expect(((try? result.get()) != nil) == isRight)
        }
    }

    @Test("A continued file with a wrong digest is received once more from the start")
    func damagedPart() async throws {
        let content = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 7) })
        let server = RangeServer(content) { state in
            state.cuts = [200_000] + Array(repeating: 0, count: 8)
            state.headers["Repr-Digest"] = "sha-256=:\(MessageDigest.sha256(content).base64EncodedString()):"
        }
        await #expect(throws: NetworkError.self) { try await server.client().download(Self.film, to: path) }
        let part = try FileHandle(forWritingTo: folder.appendingPathComponent("film.mp4.part"))
        try part.write(contentsOf: Data(repeating: 0xEE, count: 100))
        try await server.client().download(Self.film, to: path)
        #expect(try saved() == content)
    }

    @Test("A folder takes the name that the server suggests, made safe, and keeps other files")
    func folderNames() async throws {
        let server = RangeServer(Data("x".utf8)) { state in
            state.headers[.contentDisposition] = "attachment; filename=\"../../etc/pass%20wd.txt\""
        }
        let options = FileDownload.Options(existing: .keepBoth)
        var paths: [String] = []
        for _ in 0..<3 {
            paths.append(
                try await server.client().download(Self.film, to: folder.path + "/", options: options).value.path)
        }
        #expect(
            paths.map { $0.split(separator: "/").last } == ["pass%20wd.txt", "pass%20wd (1).txt", "pass%20wd (2).txt"])
        #expect(try names.count == 3)
        // Without a suggestion, the URL has the name. A URL of a folder works too.
        let plain = RangeServer(Data("y".utf8))
        let place = URL(fileURLWithPath: folder.path, isDirectory: true)
        let file = try await plain.client().download(Self.film, to: place).value
        #expect(file.path.hasSuffix("/film"))
    }

    @Test("Nothing is overwritten unless the options say so")
    func existing() async throws {
        try Data("mine".utf8).write(to: folder.appendingPathComponent("film.mp4"))
        let server = RangeServer(Data("new".utf8))
        let error = await #expect(throws: NetworkError.self) { try await server.client().download(Self.film, to: path) }
        #expect(error?.reason == .storage && error?.hint?.contains("existing") == true)
        #expect(server.requests.isEmpty)
        #expect(try saved() == Data("mine".utf8) && names == ["film.mp4"])
        try await server.client().download(Self.film, to: path, options: FileDownload.Options(existing: .keepBoth))
        #expect(try saved("film (1).mp4") == Data("new".utf8))
        try await server.client().download(Self.film, to: path, options: FileDownload.Options(existing: .replace))
        #expect(try saved() == Data("new".utf8))
    }

    @Test("A file that another program creates meanwhile is not overwritten")
    func race() async throws {
        let target = path
        let server = RangeServer(Data(repeating: 1, count: 100_000)) { state in
            state.onRequest = { _ in try? Data("theirs".utf8).write(to: URL(fileURLWithPath: target)) }
        }
        let error = await #expect(throws: NetworkError.self) { try await server.client().download(Self.film, to: path) }
        #expect(error?.reason == .storage && error?.detail.contains("exists") == true)
        #expect(try saved() == Data("theirs".utf8))
    }

    @Test("Two downloads to one path at the same time are refused, and the first one is not disturbed")
    func twice() async throws {
        let content = Data(repeating: 5, count: 300_000)
        let target = path
        let second = Locked<NetworkError?>(nil)
        let other = RangeServer(Data("other".utf8)).client()
        let gate = SharedGate()
        let server = RangeServer(content)
        let slow = server.client()
        async let first = slow.download(Self.film, to: target) { value in
            if value.completed > 0 { gate.open() }
        }
        try await gate.wait()
        do throws(NetworkError) { try await other.download(Self.film, to: target) } catch {
            second.withLock { $0 = error }
        }
        _ = try await first
        // The first one may have ended already.
        if let error = second.withLock({ $0 }) { #expect(error.reason == .storage) }
        #expect(try saved() == content || saved() == Data("other".utf8))
    }

    @Test("A file too large for the disk fails before it is received")
    func fullDisk() async throws {
        let server = RangeServer(Data("x".utf8)) { state in
            state.replies = [
                HTTPResponse(
                    headers: [.eTag: "\"1\""], body: ResponseBody(ChunkSource(["x"]), limit: .max, length: 1 << 60))
            ]
        }
        let client = APIClient.testing(server, baseURL: "https://media.example", limits: Limits(download: .max))
        let error = await #expect(throws: NetworkError.self) { try await client.download(Self.film, to: path) }
        #expect(error?.reason == .storage && error?.hint == "Free disk space.")
        #expect(try names.isEmpty)
    }
}

/// A gate that a callback opens.
private final class SharedGate: Sendable {
    private let isOpen = Locked(false)

    func open() { isOpen.withLock { $0 = true } }

    func wait() async throws {
        try await yieldUntil { isOpen.withLock { $0 } }
    }
}
