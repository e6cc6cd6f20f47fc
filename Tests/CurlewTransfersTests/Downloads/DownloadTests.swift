// SPDX-License-Identifier: MIT

import CurlewTransfers
import TestServers
import Testing

/// Responses that go to a file: what is there when, and what is left when it goes wrong.
@Suite(.timeLimit(.minutes(1)))
struct DownloadTests {
    private let folder: TemporaryFolder
    private var path: String { folder.appendingPathComponent("export.csv").path }
    private let replacing = FileDownload.Options(existing: .replace)

    init() throws { folder = try TemporaryFolder() }

    private func client(
        _ source: ChunkSource, _ status: HTTPStatus = .ok, limit: Int64 = .max, length: Int64? = nil,
        _ pipeline: Pipeline = []
    ) -> APIClient {
        let transport = RecordingTransport { _, context in
            #expect(context.options.streaming == true)
            return HTTPResponse(
                status: status, headers: ["X-Kind": "csv"], body: ResponseBody(source, limit: limit, length: length))
        }
        return APIClient.testing(transport, pipeline: pipeline)
    }

    @Test("The progress of a download that fails at once ends without a value")
    func progressOfNothing() async throws {
        try Data("old".utf8).write(to: URL(fileURLWithPath: path))
        let client = client(ChunkSource(["new"]))
        let updates = TransferProgress.Updates()
        async let error = client.downloadFailure(to: path, progress: updates.handler)
        for await progress in updates { Issue.record("\(progress)") }
        #expect(await error != nil)
    }

    /// What the folder holds, drafts included.
    private var names: [String] { get throws { try folder.names } }

    private func text() throws -> String {
        String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
    }

    @Test("The file has the received bytes, and the response says how many, with all metadata")
    func complete() async throws {
        let answer = try await client(ChunkSource(["a,b\n", "1,2\n"])).download(Request<Data>.get("/export"), to: path)
        #expect(answer.value.byteCount == 8 && answer.status == .ok && answer.headers["X-Kind"] == "csv")
        #expect(try text() == "a,b\n1,2\n" && names == ["export.csv"])
        // Any route, and one whose answer would be decoded.
        try await client(ChunkSource(["x"])).download(PeopleAPI.list, to: path, options: replacing)
        try await client(ChunkSource(["yz"])).download(.people, to: path, options: replacing)
        #expect(try text() == "yz" && names == ["export.csv"])
    }

    @Test("A file keeps its permissions when it is replaced, and so does the draft", arguments: [0o600, 0o640, 0o400])
    func permissions(mode: Int) async throws {
        let place = folder.path
        @Sendable func permissions(_ name: String) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: place + "/" + name)[.posixPermissions] as? Int
        }
        try Data("old".utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        let seen = Locked<[Int?]>([])
        try await client(ChunkSource(["a,b\n"])).download(Request<Data>.get("/export"), to: path, options: replacing) {
            _ in
            let names = (try? FileManager.default.contentsOfDirectory(atPath: place)) ?? []
            let draft = names.first { $0.hasSuffix(".part") }.flatMap { try? permissions($0) }
            seen.withLock { $0.append(draft) }
        }
        #expect(try permissions("export.csv") == mode)
        #expect(try text() == "a,b\n")
        #expect(seen.withLock { $0.allSatisfy { $0 == nil || $0 == mode } })
    }

    @Test("An empty response creates an empty file, bytes in memory are written there as well")
    func empty() async throws {
        #expect(try await client(ChunkSource([Data]())).download(PeopleAPI.list, to: path).value.byteCount == 0)
        #expect(try text().isEmpty)
        try await APIClient.testing(RecordingTransport(.ok, "here")).download(
            PeopleAPI.list, to: path, options: replacing)
        #expect(try text() == "here")
    }

    @Test("A draft replaces a file only when it is complete", arguments: [false, true])
    func replacing(isThere: Bool) async throws {
        if isThere { try Data("old".utf8).write(to: URL(fileURLWithPath: path)) }
        let error = await #expect(throws: NetworkError.self) {
            try await client(
                ChunkSource(["new"], error: NetworkError(.connectionLost(.requestMayHaveArrived)))
            ).download(.people, to: self.path, options: replacing)
        }
        #expect(error?.reason == .connectionLost(.requestMayHaveArrived))
        #expect(error?.request?.url == "https://api.example/v1/people")
        #expect(try names == (isThere ? ["export.csv"] : []))
        if isThere { #expect(try text() == "old") }
    }

    @Test("A status that is no success writes nothing, not even for a route that takes every status")
    func status() async throws {
        let source = ChunkSource(["no such export"])
        let error = await #expect(throws: NetworkError.self) {
            try await client(source, .notFound).download(
                Request<HTTPResponse>(.get, "/x", name: "export"), to: self.path)
        }
        #expect(error?.isNotFound == true && error?.routeName == "export")
        #expect(error?.response?.body == Data("no such export".utf8))
        #expect(source.wasCancelled)
        #expect(try names.isEmpty)
        let request = Request<Data>.get("/x").options { $0.acceptedStatuses = [.notFound] }
        try await client(ChunkSource(["page"]), .notFound).download(request, to: path)
        #expect(try text() == "page")
    }

    @Test("Limits.download bounds a download, and Limits.responseBody does not")
    func limits() async throws {
        func get(_ limit: Int64) async throws -> Int64 {
            let limits = Limits(responseBody: 1, download: limit)
            let client = APIClient(
                baseURL: "https://api.example", pipeline: [],
                transport: ClosureTransport { _, context in
                    let source = ChunkSource(["abc", "def"])
                    return HTTPResponse(body: ResponseBody(source, limit: context.limits.responseBody, length: nil))
                }, configuration: APIClient.Configuration(limits: limits))
            return try await client.download(PeopleAPI.list, to: path, options: replacing).value.byteCount
        }
        #expect(try await get(6) == 6)
        let error = await #expect(throws: NetworkError.self) { _ = try await get(5) }
        #expect(error?.reason == .limitExceeded(.responseBody))
        #expect(error?.hint?.contains("options.limits.download") == true)
        #expect(try text() == "abcdef" && names == ["export.csv"])
    }

    @Test(
        "A message that cannot be written is reported before anything is sent",
        arguments: ["missing/export.csv", "folder"])
    func unwritable(name: String) async throws {
        try FileManager.default.createDirectory(
            at: folder.appendingPathComponent("folder"), withIntermediateDirectories: true)
        let transport = RecordingTransport()
        let failures = EventLog { event, _ -> Bool? in if case .failed = event { true } else { nil } }
        let client = APIClient.testing(transport, baseURL: "https://api.example", observers: [failures])
        let error = await #expect(throws: NetworkError.self) {
            try await client.download(.people, to: folder.appendingPathComponent(name).path)
        }
        #expect(error?.reason == .storage && error?.request?.url == "https://api.example/people")
        #expect(error?.detail.contains(name) == true && error?.hint != nil)
        #expect(transport.requests.isEmpty && failures.entries.count == 1)
        #expect(try names == ["folder"])
    }

    @Test("A cancelled download ends at once and leaves nothing")
    func cancelled() async throws {
        let source = ChunkSource([Data("a".utf8)], waitsAtEnd: true)
        let client = client(source)
        let task = Task { [path] in try await client.download(Request<Data>.get("/export"), to: path) }
        try await yieldUntil { source.pulls >= 2 }
        task.cancel()
        let error = await #expect(throws: NetworkError.self) { try await task.value }
        #expect(error?.isCancelled == true && source.wasCancelled)
        #expect(try names.isEmpty)
    }

    @Test("Progress rises from 0 to the end, and knows the total if the server does", arguments: [true, false])
    func progress(isDeclared: Bool) async throws {
        let values = Locked<[TransferProgress]>([])
        let chunks = Array(repeating: Data(count: 300_000), count: 20)
        let length: Int64? = isDeclared ? 6_000_000 : nil
        try await client(ChunkSource(chunks), length: length).download(.people, to: path) { value in
            values.withLock { $0.append(value) }
        }
        let all = values.withLock { $0 }
        #expect(all.first?.completed == 0 && all.last?.completed == 6_000_000)
        #expect(all.allSatisfy { $0.total == length } && all.filter(\.isLast).count == 1)
        #expect(zip(all, all.dropFirst()).allSatisfy { $0.completed <= $1.completed })
    }

    @Test("Progress ends when a download fails before its first byte")
    func failedProgress() async throws {
        let values = Locked<[TransferProgress]>([])
        let client = client(ChunkSource([Data]()), .notFound)
        await #expect(throws: NetworkError.self) {
            try await client.download(.people, to: self.path) { value in values.withLock { $0.append(value) } }
        }
        #expect(values.withLock { $0 }.map(\.isLast) == [true])
    }

    @Test("A source that writes by itself does so under limits and behind those who wait for the end")
    func direct() async throws {
        for (limit, isComplete) in [(Int64.max, true), (8, true), (7, false)] {
            let source = DirectSource(["abcd", "efgh"])
            let ends = Locked<[Bool]>([])
            let client = client(source, limit: limit) { end in ends.withLock { $0.append(end) } }
            let result = await Task { [path] in
                try await client.download(.people, to: path, options: replacing).value.byteCount
            }.result
            #expect(source.wasDrained && (try? result.get()) == (isComplete ? 8 : nil))
            #expect(ends.withLock { $0 } == [isComplete])
        }
        #expect(try text() == "abcdefgh" && names == ["export.csv"])
    }

    private func client(
        _ source: DirectSource, limit: Int64, onEnd: @escaping @Sendable (Bool) -> Void
    ) -> APIClient {
        let transport = ClosureTransport { _, _ in
            HTTPResponse(
                body: ResponseBody(source, limit: limit, length: nil).onEnd { end in
                    if case .complete = end { onEnd(true) } else { onEnd(false) }
                })
        }
        return APIClient.testing(transport, baseURL: "https://api.example", limits: Limits(download: limit))
    }

    /// Gives its chunks to a sink only.
    private final class DirectSource: ResponseBodySource {
        private let chunks: [String]
        private let drained = Locked(false)

        init(_ chunks: [String]) {
            self.chunks = chunks
        }

        var wasDrained: Bool { drained.withLock { $0 } }

        func next() async throws -> Data? {
            Issue.record("no reader should ask for a chunk")
            return nil
        }

        func drain(into sink: any BodySink) async throws {
            drained.withLock { $0 = true }
            for chunk in chunks { try sink.write(Data(chunk.utf8)) }
        }

        func cancel() {}
    }
}

extension APIClient {
    fileprivate func downloadFailure(
        to path: String, progress: @escaping TransferProgress.Handler
    ) async -> NetworkError? {
        do {
            _ = try await download(.people, to: path, progress: progress)
            return nil
        } catch {
            return error
        }
    }
}
