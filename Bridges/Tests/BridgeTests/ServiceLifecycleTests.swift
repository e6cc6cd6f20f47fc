// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting
import Logging
import ServiceLifecycle
import ServiceLifecycleBridge
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ServiceLifecycleTests {
    /// A transport whose exchanges wait for a gate, and that records how it is shut down.
    private struct SlowTransport: Transport {
        let gate = Gate()
        let began = Gate()
        let shutdowns = Recorded<TransportConfiguration.ShutdownMode>()

        func send(_ request: HTTPRequest, in context: ExchangeContext) async throws -> HTTPResponse {
            began.open()
            await gate.pass()
            return .text("film")
        }

        func shutdown(_ mode: TransportConfiguration.ShutdownMode) async { shutdowns.append(mode) }
    }

    private struct SilentLogHandler: LogHandler {
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.critical

        subscript(metadataKey key: String) -> Logger.MetadataValue? {
            get { nil }
            set {}
        }

        func log(
            level: Logger.Level, message: Logger.Message, metadata: Logger.Metadata?, source: String, file: String,
            function: String, line: UInt
        ) {}
    }

    private let transport = SlowTransport()
    private let clock = ManualClock()

    private func client() -> APIClient {
        APIClient(
            baseURL: "https://api.example.com", pipeline: .empty, transport: transport,
            configuration: APIClient.Configuration(timeouts: .none, time: clock))
    }

    private func group(_ service: APIClientService) -> ServiceGroup {
        ServiceGroup(services: [service], logger: Logger(label: "group") { _ in SilentLogHandler() })
    }

    @Test("A graceful shutdown lets running calls end and refuses new ones", arguments: [false, true])
    func drain(endsTransport: Bool) async throws {
        let client = client()
        let group = group(APIClientService(client, drainingFor: .seconds(20), endsTransport: endsTransport))
        let running = Task { try await group.run() }
        async let film: String = client.send(.get("/films/1"))
        await transport.began.pass()
        await group.triggerGracefulShutdown()
        try await clock.waitForSleepers(1, .all)
        do {
            let _: String = try await client.send(.get("/films/2"))
            Issue.record("The client accepts calls.")
        } catch {
            #expect(error.reason == .refused(by: .shutdown))
        }
        #expect(transport.shutdowns.values.isEmpty)
        clock.advance(by: .seconds(5))
        transport.gate.open()
        #expect(try await film == "film")
        try await running.value
        #expect(transport.shutdowns.values == (endsTransport ? [.drain(deadline: .seconds(15))] : []))
    }

    @Test("Calls that take longer than the limit end with the transport, if that is wanted", arguments: [false, true])
    func limit(endsTransport: Bool) async throws {
        let client = client()
        let group = group(APIClientService(client, drainingFor: .seconds(20), endsTransport: endsTransport))
        let running = Task { try await group.run() }
        async let film: String = client.send(.get("/films/1"))
        await transport.began.pass()
        await group.triggerGracefulShutdown()
        try await clock.waitForSleepers(1, .all)
        clock.advance(by: .seconds(20))
        try await running.value
        #expect(transport.shutdowns.values == (endsTransport ? [.now] : []))
        transport.gate.open()
        #expect(try await film == "film")
    }

    @Test("A cancelled service ends at once", arguments: [false, true])
    func cancellation(endsTransport: Bool) async throws {
        let group = group(APIClientService(client(), endsTransport: endsTransport))
        let running = Task { try await group.run() }
        running.cancel()
        await #expect(throws: CancellationError.self) { try await running.value }
        #expect(transport.shutdowns.values == (endsTransport ? [.now] : []))
    }

    @Test("A body that is still read arrives before the default transport ends")
    func bodies() async throws {
        let server = try MockServer()
        defer { server.stop() }
        let size = 4 << 20
        server.on(.get, "/export", respond: .generated(bytes: size))
        let client = APIClient(baseURL: try BaseURL(server.url), pipeline: .standard, transport: ownTransport())
        let group = group(APIClientService(client, endsTransport: true))
        let running = Task { try await group.run() }
        let count = try await client.withResponse(to: Request<Data>.get("/export")) { response in
            var count = 0
            var chunks = response.body.makeAsyncIterator()
            count += try await chunks.next()?.count ?? 0
            await group.triggerGracefulShutdown()
            while let chunk = try await chunks.next() { count += chunk.count }
            return count
        }
        #expect(count == size)
        try await running.value
        await #expect(throws: NetworkError.self) { try await client.send(Request<Void>.get("/export")) }
    }

    private func ownTransport() -> any Transport {
        #if os(Linux)
        CurlTransport()
        #else
        URLSessionTransport()
        #endif
    }
}
