// SPDX-License-Identifier: MIT

import CurlewTransfers
import Testing

/// Responses that go to files.
@Suite(.timeLimit(.minutes(1)))
struct DownloadTests {
    /// Collects what it gets, and where; a gate holds it up.
    private final class Sink: BodySink {
        struct State {
            var data = Data()
            var threads: Set<String> = []
        }

        let state = Locked(State())
        let arrived = Signal()
        private let gate: DispatchSemaphore?
        private let error: NetworkError?

        init(gate: DispatchSemaphore? = nil, error: NetworkError? = nil) {
            self.gate = gate
            self.error = error
        }

        func write(_ bytes: UnsafeRawBufferPointer) throws(NetworkError) {
            arrived.fire()
            gate?.wait()
            gate?.signal()
            let name = Self.threadName
            state.withLock { state in
                state.data.append(contentsOf: bytes)
                state.threads.insert(name)
            }
            if let error { throw error }
        }

        private static var threadName: String {
            let name = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
            return name?.split(separator: "\n").first.map(String.init) ?? ""
        }
    }

    private func open(_ transport: CurlTransport, _ url: String) async throws -> HTTPResponse {
        try await transport.exchange(.get, url, limits: Limits(responseBody: .max)) { $0.streaming = true }
    }

    @Test(
        "Files have every byte, whatever the size and the framing", arguments: [0, 1, 65_537, 3_000_000], [false, true])
    func whole(size: Int, chunked: Bool) async throws {
        // Six of eight wait for a slot.
        let transport = CurlTransport(configuration: TransportConfiguration(connectionsPerHost: 2, bodyBuffer: 16_384))
        let server = try MockServer.always(.generated(bytes: size, chunked: chunked))
        let folder = try TemporaryFolder()
        let (client, expected) = (APIClient.curl(nil, .standard, over: transport), pattern(size))
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<8 {
                group.addTask {
                    let path = "\(folder.path)/\(number)"
                    let request = Request<Data>.get(url: server.url + "/")
                    let count = try await client.download(
                        request, to: path, options: FileDownload.Options(existing: .replace)
                    ).value.byteCount
                    return try count == size && Data(contentsOf: URL(fileURLWithPath: path)) == expected
                }
            }
            for try await isEqual in group { #expect(isEqual) }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 8)
    }

    @Test("Files arrive whole over HTTP/2 too, beside other calls")
    func multiplexed() async throws {
        let nginx = try await Nginx.shared()
        let client = APIClient.curl(nil, .standard, over: CurlTransport(configuration: nginx.configuration))
        let folder = try TemporaryFolder()
        let url = nginx.secure()
        let expected = try await client.send(Request<Data>.get(url: url + "/body.bin"))
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<12 {
                group.addTask {
                    let request = Request<Data>.get(url: url + "/body.bin")
                    guard number % 3 != 0 else { return try await client.send(request) == expected }
                    let path = "\(folder.path)/\(number)"
                    try await client.download(request, to: path)
                    return try Data(contentsOf: URL(fileURLWithPath: path)) == expected
                }
            }
            for try await isEqual in group { #expect(isEqual) }
        }
    }

    @Test("Bytes before and after a sink are written in order, and not by the transport's thread")
    func order() async throws {
        let transport = CurlTransport(configuration: TransportConfiguration(bodyBuffer: 100_000))
        let server = try MockServer.always(.generated(bytes: 3_000_000))
        let response = try await open(transport, server.url + "/")
        // The transfer stands still, because no reader reads.
        #expect(await eventually { transport.snapshot.paused == 1 })
        let sink = Sink()
        try await response.body.drain(into: sink)
        let state = sink.state.withLock { $0 }
        #expect(state.data == pattern(3_000_000) && !state.threads.contains("curlew-loop"))
    }

    @Test("A disk that does not respond delays no other call")
    func stuck() async throws {
        let transport = CurlTransport()
        let server = try MockServer.always(.generated(bytes: 3_000_000))
        server.on(.get, "/small", respond: .text("small"))
        let gate = DispatchSemaphore(value: 0)
        let sink = Sink(gate: gate)
        let response = try await open(transport, server.url + "/")
        let task = Task { try await response.body.drain(into: sink) }
        await sink.arrived.wait()
        for _ in 0..<20 { #expect(try await transport.exchange(.get, server.url + "/small").text() == "small") }
        task.cancel()
        gate.signal()
        #expect(await outcome(task).reason == .cancelled)
    }

    @Test("An error of the disk ends the transfer, and nothing else")
    func failing() async throws {
        let transport = CurlTransport()
        let server = try MockServer.always(.generated(bytes: 3_000_000))
        let response = try await open(transport, server.url + "/")
        let error = await #expect(throws: NetworkError.self) {
            try await response.body.drain(into: Sink(error: NetworkError(.storage, detail: "full")))
        }
        #expect(error?.reason == .storage && error?.detail == "full")
        let sink = Sink()
        try await open(transport, server.url + "/").body.drain(into: sink)
        #expect(sink.state.withLock { $0.data } == pattern(3_000_000))
        #expect(await eventually { transport.snapshot.active == 0 })
    }

    @Test("Downloads that are cancelled at any moment leave a whole file or none")
    func cancelledSomewhere() async throws {
        let seed = UInt64.random(in: .min ... .max)
        let random = Locked(SeededGenerator(seed: seed))
        let transport = CurlTransport(configuration: TransportConfiguration(bodyBuffer: 16_384))
        let server = try MockServer.always(.generated(bytes: 400_000))
        let folder = try TemporaryFolder()
        let (client, expected) = (APIClient.curl(nil, .standard, over: transport), pattern(400_000))
        let whole = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<100 {
                group.addTask {
                    let path = "\(folder.path)/\(number)"
                    let request = Request<Data>.get(url: server.url + "/")
                    let task = Task { _ = try await client.download(request, to: path) }
                    for _ in 0..<random.withLock({ Int.random(in: 0..<3000, using: &$0) }) { await Task.yield() }
                    task.cancel()
                    let result = await outcome(task)
                    let file = FileManager.default.contents(atPath: path)
                    if case .success = result { return file == expected }
                    #expect(result.reason == .cancelled, "seed \(seed)")
                    return file == nil
                }
            }
            return try await group.reduce(true) { $0 && $1 }
        }
        #expect(whole, "seed \(seed)")
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".part") }
        #expect(left.isEmpty, "seed \(seed)")
        #expect(await eventually { transport.snapshot.active == 0 })
        #expect(try await transport.exchange(.get, server.url + "/").data() == expected)
    }
}
