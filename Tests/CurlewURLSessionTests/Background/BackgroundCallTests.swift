// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import CurlewTesting
import CurlewTransfers
import Foundation
import Testing

@testable import CurlewURLSession

/// Stands for the system: it keeps tasks across launches of the app, and the test decides when they end.
final class FakeBackgroundTasks: BackgroundTasks {
    struct Started {
        let request: HTTPRequest
        let transfer: BackgroundTransfer
    }

    private struct State {
        var running: [Started] = []
        var started = 0
        var cancelled: [UUID] = []
        var store: BackgroundStore?
    }

    private let state = Locked(State())

    var running: [Started] { state.withLock { $0.running } }
    var started: Int { state.withLock { $0.started } }
    var cancelled: [UUID] { state.withLock { $0.cancelled } }

    /// Sets the store that receives the events of this launch.
    func deliver(to store: BackgroundStore?) { state.withLock { $0.store = store } }

    func start(_ request: HTTPRequest, _ transfer: BackgroundTransfer) throws(NetworkError) {
        state.withLock { state in
            state.running.append(Started(request: request, transfer: transfer))
            state.started += 1
        }
    }

    func cancel(_ id: UUID) {
        state.withLock { $0.cancelled.append(id) }
        guard let task = take(id) else { return }
        store?.finish(task.transfer, nil, NetworkError(.cancelled))
    }

    private var store: BackgroundStore? { state.withLock { $0.store } }

    private func take(_ id: UUID) -> Started? {
        state.withLock { state in
            guard let index = state.running.firstIndex(where: { $0.transfer.id == id }) else { return nil }
            return state.running.remove(at: index)
        }
    }

    /// Removes a task without an outcome, as when the user terminates the app.
    func lose(_ id: UUID) { _ = take(id) }

    /// Ends the oldest task with a response, as the delegate of a session reports it.
    func finish(_ text: String, _ status: HTTPStatus = .ok, headers: HTTPHeaders = [:]) throws {
        guard let task = running.first, take(task.transfer.id) != nil, let store else { return }
        let response = HTTPResponse(status: status, headers: headers)
        if task.transfer.isUpload {
            #expect(store.append(Data(text.utf8), of: task.transfer))
        } else {
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("curlew-\(UUID().uuidString)").path
            try Data(text.utf8).write(to: URL(fileURLWithPath: file))
            store.take(file, of: task.transfer, status: status.code)
            try? FileManager.default.removeItem(atPath: file)
        }
        store.finish(task.transfer, response, nil)
    }

    func fail(_ error: NetworkError) {
        guard let task = running.first, take(task.transfer.id) != nil else { return }
        store?.finish(task.transfer, nil, error)
    }
}

/// One launch of an app: a store over the files of the earlier launches, and a client.
struct BackgroundLaunch {
    let store: BackgroundStore
    let client: APIClient

    init(_ folder: String, _ tasks: FakeBackgroundTasks, pipeline: Pipeline = .empty) {
        let store = BackgroundStore(BackgroundFiles(folder: folder, identifier: "test")) { _ in
            Issue.record("the transfer of a call is not among the outcomes")
        }
        tasks.deliver(to: store)
        store.reportEarlier()
        store.reattach(tasks.running.map(\.transfer))
        self.store = store
        let transport = URLSessionTransport(
            TransportConfiguration(), nil, unreadBody: 1 << 20, uploadSpool: 1 << 20,
            background: BackgroundCalls(store: store, tasks: tasks))
        client = APIClient(baseURL: "http://127.0.0.1:9", pipeline: pipeline, transport: transport)
    }
}

@Suite(.timeLimit(.minutes(2)))
struct BackgroundCallTests {
    private let folder: String
    private let tasks = FakeBackgroundTasks()
    private let film = Request<String>.get("/film").inBackground("film")

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("curlew-tests-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    private func running(_ count: Int = 1) async {
        #expect(await eventually { tasks.running.count == count })
    }

    private var leftovers: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).filter { !$0.hasSuffix(".json") }
    }

    @Test("a call receives its response as from any transport, and nothing is left")
    func ordinary() async throws {
        let launch = BackgroundLaunch(folder, tasks)
        let call = Task { try await launch.client.send(film.header("X-Test", "1")) }
        await running()
        #expect(tasks.running.first?.request.headers["X-Test"] == "1")
        try tasks.finish("the film")
        #expect(try await call.value == "the film")
        #expect(launch.store.entries.isEmpty)
        #expect(leftovers.isEmpty)
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test("after a relaunch the same call waits for the running transfer, or receives the one that has ended")
    func relaunch() async throws {
        let first = BackgroundLaunch(folder, tasks)
        let lost = Task { try await first.client.send(film) }
        await running()
        // The process ends: its call never returns.
        let second = BackgroundLaunch(folder, tasks)
        let call = Task { try await second.client.send(film) }
        try tasks.finish("one")
        #expect(try await call.value == "one")
        #expect(tasks.started == 1)

        let third = Task { try await second.client.send(film) }
        await running()
        let fourth = BackgroundLaunch(folder, tasks)
        try tasks.finish("two")
        let kept = try #require(leftovers.first { $0.hasSuffix(".download") })
        let mode = try FileManager.default.attributesOfItem(atPath: folder + "/" + kept)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(try await fourth.client.send(film) == "two")
        #expect(tasks.started == 2)
        #expect(fourth.store.entries.isEmpty)
        lost.cancel()
        third.cancel()
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test("a transfer that the system lost is started again, before the call and while it waits")
    func lostTransfers() async throws {
        let first = BackgroundLaunch(folder, tasks)
        let left = Task { try await first.client.send(film) }
        await running()
        let second = BackgroundLaunch(folder, tasks)
        let call = Task { try await second.client.send(film) }
        for id in tasks.running.map(\.transfer.id) { tasks.lose(id) }
        second.store.reattach([])
        await running()
        #expect(tasks.started == 2)
        for id in tasks.running.map(\.transfer.id) { tasks.lose(id) }
        let third = BackgroundLaunch(folder, tasks)
        let again = Task { try await third.client.send(film) }
        await running()
        try tasks.finish("found")
        #expect(try await again.value == "found")
        #expect(tasks.started == 3)
        left.cancel()
        call.cancel()
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test("a failure is thrown to the call that waits, and one from an earlier launch is tried again")
    func failures() async throws {
        let launch = BackgroundLaunch(folder, tasks)
        let call = Task { try await launch.client.send(film) }
        await running()
        tasks.fail(NetworkError(.unreachable, detail: "no route"))
        let error = await #expect(throws: NetworkError.self) { try await call.value }
        #expect(error?.description.contains("no route") == true)
        #expect(error?.description.contains("/film") == true)
        #expect(launch.store.entries.isEmpty)

        let left = Task { try await launch.client.send(film) }
        await running()
        let second = BackgroundLaunch(folder, tasks)
        tasks.fail(NetworkError(.unreachable))
        let again = Task { try await second.client.send(film) }
        await running()
        try tasks.finish("film")
        #expect(try await again.value == "film")
        left.cancel()
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test("a retry starts another transfer")
    func retry() async throws {
        let launch = BackgroundLaunch(
            folder, tasks, pipeline: [.retry(RetryPolicy(attempts: 3, backoff: .constant(.zero)))])
        let call = Task { try await launch.client.response(for: film) }
        await running()
        try tasks.finish("later", .serviceUnavailable)
        #expect(await eventually { tasks.started == 2 })
        try tasks.finish("now")
        let response = try await call.value
        #expect(response.value == "now")
        #expect(response.attempts.count == 2)
        #expect(launch.store.entries.isEmpty && leftovers.isEmpty)
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test("cancellation ends the transfer, a timeout only the wait")
    func ends() async throws {
        let launch = BackgroundLaunch(folder, tasks)
        let cancelled = Task { try await launch.client.send(film) }
        await running()
        cancelled.cancel()
        await #expect(throws: NetworkError.self) { try await cancelled.value }
        #expect(tasks.cancelled.count == 1 && tasks.running.isEmpty)

        let late = await #expect(throws: NetworkError.self) {
            try await launch.client.send(film.options { $0.timeouts.total = .milliseconds(20) })
        }
        #expect(late?.reason == .timedOut(.total))
        #expect(late?.hint?.contains("continues") == true)
        #expect(tasks.running.count == 1)
        try tasks.finish("later")
        #expect(try await launch.client.send(film) == "later")
        #expect(tasks.started == 2)
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test func twoCallsWithOneIdentifier() async throws {
        let launch = BackgroundLaunch(folder, tasks)
        let call = Task { try await launch.client.send(film) }
        await running()
        let error = await #expect(throws: NetworkError.self) { try await launch.client.send(film) }
        #expect(error?.reason == .invalidRequest)
        let other = Task { try await launch.client.send(Request<String>.get("/film").inBackground("other")) }
        await running(2)
        try tasks.finish("one")
        try tasks.finish("two")
        #expect(try await [call.value, other.value] == ["one", "two"])
        for name in ["", String(repeating: "x", count: 201)] {
            let error = await #expect(throws: NetworkError.self) {
                try await launch.client.send(Request<String>.get("/film").inBackground(name))
            }
            #expect(error?.reason == .invalidRequest)
        }
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test("a download has its rules: name, checksum, existing files, parts")
    func download() async throws {
        let launch = BackgroundLaunch(folder, tasks)
        let path = folder + "/film.mp4"
        let text = "the bytes of a film"
        let sum = FileDownload.Checksum.sha256(MessageDigest.sha256(Data(text.utf8)).hexText)
        let call = Task {
            try await launch.client.download(
                film, to: path, options: FileDownload.Options(checksum: sum))
        }
        await running()
        try tasks.finish(text, headers: ["ETag": "\"1\"", "Content-Length": "\(text.utf8.count)"])
        #expect(try await call.value.value.byteCount == Int64(text.utf8.count))
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data(text.utf8))
        #expect(leftovers == ["film.mp4"])

        let exists = await #expect(throws: NetworkError.self) { try await launch.client.download(film, to: path) }
        #expect(exists?.reason == .storage && tasks.started == 1)

        let damaged = Task {
            try await launch.client.download(
                film, to: path, options: FileDownload.Options(existing: .replace, checksum: sum))
        }
        await running()
        try tasks.finish("other bytes")
        let error = await #expect(throws: NetworkError.self) { try await damaged.value }
        #expect(error?.reason == .badResponse)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data(text.utf8))
        #expect(launch.store.entries.isEmpty && leftovers == ["film.mp4"])
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test("bodies from memory and from a file are sent, others are refused")
    func uploads() async throws {
        let launch = BackgroundLaunch(folder, tasks)
        let source = folder + "/source.txt"
        try Data("from a file".utf8).write(to: URL(fileURLWithPath: source))
        for content in [RequestContent.text("from memory"), .file(source)] {
            let call = Task {
                try await launch.client.send(Request<String>.post("/notes", body: content).inBackground("note"))
            }
            await running()
            guard case .upload(let path)? = tasks.running.first?.transfer.kind else {
                Issue.record("not an upload")
                return
            }
            #expect(tasks.running.first?.request.body.isEmpty == true)
            #expect(try String(contentsOfFile: path, encoding: .utf8).hasPrefix("from "))
            try tasks.finish("stored", .created)
            #expect(try await call.value == "stored")
        }
        #expect(leftovers == ["source.txt"])
        let stream = RequestContent.stream(type: .octetStream) {
            RequestBody.Chunks(AsyncStream<Data> { $0.finish() })
        }
        let error = await #expect(throws: NetworkError.self) {
            try await launch.client.send(Request<String>.post("/notes", body: stream).inBackground("stream"))
        }
        #expect(error?.reason == .invalidRequest && error?.hint?.contains("file") == true)
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test("other transports send the request as usual")
    func otherTransports() async throws {
        try FileManager.default.removeItem(atPath: folder)
        let client = APIClient.mock { $0.on(.get, "/film") { _ in .text("film") } }
        #expect(try await client.send(film) == "film")
    }

    @Test(
        "relaunches, losses and failures at random: each film arrives, and one transfer runs at a time",
        arguments: 0..<40)
    func random(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        var abandoned: [Task<String, any Error>] = []
        var launch = BackgroundLaunch(folder, tasks)
        for round in 0..<6 {
            var arrived: String?
            var steps = 0
            while arrived == nil, steps < 30 {
                steps += 1
                let client = launch.client
                let call = Task { try await client.send(film) }
                // Either the call starts or finds a transfer, or it ends with what an earlier launch has received.
                let ended = Locked(false)
                let watch = Task {
                    _ = await call.result
                    ended.withLock { $0 = true }
                }
                #expect(await eventually { ended.withLock { $0 } || tasks.running.count == 1 })
                #expect(tasks.running.count <= 1, "seed \(seed)")
                switch Int.random(in: 0..<6, using: &random) {
                case 0:
                    // The app is terminated, the transfer goes on.
                    launch = BackgroundLaunch(folder, tasks)
                    abandoned.append(call)
                    if Bool.random(using: &random) { try tasks.finish("film \(round)") }
                    continue
                case 1:
                    if let id = tasks.running.first?.transfer.id { tasks.lose(id) }
                    launch = BackgroundLaunch(folder, tasks)
                    abandoned.append(call)
                    continue
                case 2: tasks.fail(NetworkError(.unreachable))
                case 3: try tasks.finish("no", .notFound)
                case 4: call.cancel()
                default: try tasks.finish("film \(round)")
                }
                // A call that looked only after the event has started another transfer.
                while !ended.withLock({ $0 }) {
                    if tasks.running.count == 1 { try tasks.finish("film \(round)") }
                    await Task.yield()
                }
                arrived = try? await call.value
                await watch.value
            }
            #expect(arrived == "film \(round)", "seed \(seed), round \(round)")
        }
        #expect(launch.store.entries.isEmpty, "seed \(seed)")
        #expect(leftovers.isEmpty, "seed \(seed)")
        for call in abandoned { call.cancel() }
        try FileManager.default.removeItem(atPath: folder)
    }
}
