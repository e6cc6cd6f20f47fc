// SPDX-License-Identifier: MIT

import ConformanceCases
import CurlewCore
import CurlewHTTP
import CurlewTesting
import Foundation
import TestServers
import Testing

@testable import CurlewURLSession

/// Background sessions of the model, whose tasks outlive the app.
@Suite(.timeLimit(.minutes(1)))
struct BackgroundSessionTests {
    private let folder: TemporaryFolder
    private let identifier = UUID().uuidString

    init() throws { folder = try TemporaryFolder() }

    private func launch(_ tls: TransportConfiguration.TLS = TransportConfiguration.TLS()) -> BackgroundSession {
        BackgroundSession(identifier: identifier, folder: folder.path, tls: tls)
    }

    private func client(_ url: String, _ transport: any Transport = MockTransport()) throws -> APIClient {
        APIClient(baseURL: try BaseURL(url), pipeline: [], transport: transport)
    }

    private func outcome(
        _ session: BackgroundSession, of started: BackgroundTransfer? = nil
    ) async throws -> BackgroundOutcome {
        for await transfer in session.outcomes where started == nil || transfer.id == started?.id {
            #expect(transfer.state != .lost)
            guard case .finished(let outcome) = transfer.state else { continue }
            return outcome
        }
        throw CancellationError()
    }

    @Test("A download and an upload, with what the client adds")
    func transfers() async throws {
        let server = try MockServer()
        server.on(.get, "/film", respond: .generated(bytes: 1000))
        server.on(.post, "/films") { .data($0.body) }
        let (session, client) = (launch(), try client(server.url))
        try await session.start(Request<Void>.get("/film"), to: folder.path + "/film", with: client)
        #expect(try await outcome(session).status == 200)
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.path + "/film")) == pattern(1000))
        let source = try folder.file("source", pattern(5000))
        try await session.start(Request<Void>(.post, "/films", body: .file(source)), with: client)
        #expect(try await outcome(session).response().data() == pattern(5000))
    }

    @Test("A transfer that ends while the app is gone is delivered at the next launch", arguments: [true, false])
    func relaunch(hasLedger: Bool) async throws {
        let (server, release) = (try MockServer(), Signal())
        server.on(.get, "/film") { _ in
            release.block()
            return .generated(bytes: 1000)
        }
        let first = launch()
        try await first.start(Request<Void>.get("/film"), to: folder.path + "/film", with: try client(server.url))
        try await server.waitForRequests(count: 1)
        DarwinDaemon.endApp(identifier)
        release.fire()
        #expect(await eventually { DarwinDaemon.hasEvents(identifier) })
        if !hasLedger { try FileManager.default.removeItem(atPath: "\(folder.path)/\(identifier).ledger.json") }
        let (second, told) = (launch(), Locked(false))
        second.whenEventsAreDelivered { told.withLock { $0 = true } }
        let outcome = try await outcome(second)
        let file = try #require(outcome.file)
        #expect(outcome.status == 200 && hasLedger == (file == folder.path + "/film"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == pattern(1000))
        #expect(await eventually { told.withLock { $0 } })
    }

    @Test("An upload ends when its response is longer than what is kept of it")
    func longResponse() async throws {
        let response = MockResponse.generated(bytes: 3_000_000).stalled(at: .afterBytes(2_000_000))
        let (server, session) = (try MockServer.always(response, to: .post), launch())
        let request = Request<Void>(.post, "/", body: .file(try folder.file("source", pattern(10))))
        try await session.start(request, with: try client(server.url))
        #expect(try await outcome(session).failure?.contains("longer than 1 MiB") == true)
    }

    @Test("The user ends the app: the outcome says so, and that the transfer has to be started again")
    func forceQuit() async throws {
        let server = try MockServer.always(MockResponse().stalled(at: .beforeHead))
        let first = launch()
        try await first.start(Request<Void>.get("/"), to: folder.path + "/film", with: try client(server.url))
        try await server.waitForRequests(count: 1)
        DarwinDaemon.endApp(identifier, byUser: true)
        #expect(await eventually { DarwinDaemon.hasEvents(identifier) })
        let failure = try #require(try await outcome(launch()).failure)
        #expect(failure.contains("the user ended the app") && !failure.contains("cancelled"))
    }

    @Test("A transfer that the app cancels is cancelled")
    func cancel() async throws {
        let server = try MockServer.always(MockResponse().stalled(at: .beforeHead))
        let session = launch()
        let transfer = try await session.start(
            Request<Void>.get("/"), to: folder.path + "/film", with: try client(server.url))
        session.cancel(transfer.id)
        #expect(try await outcome(session).failure?.contains("cancelled") == true)
    }

    @Test("Pins apply to background transfers, and a client's are never dropped")
    func pins() async throws {
        let environment = try await ConformanceServers.shared().environment
        let url = try #require(environment.addresses[.secure])
        let keys = [UInt8(0), 1].map { "sha256//" + Data(repeating: $0, count: 32).base64EncodedString() }
        let tls = TransportConfiguration.TLS(
            trustedRoots: .file(try #require(environment.addresses[.authority])),
            pins: [TransportConfiguration.TLS.PinSet(hosts: ["localhost"], keys: keys)])
        let pinned = try client(url, URLSessionTransport(configuration: TransportConfiguration(tls: tls)))
        let request = Request<Void>.get("/body.bin")
        let path = folder.path + "/film"
        let error = await #expect(throws: NetworkError.self) {
            try await launch().start(request, to: path, with: pinned)
        }
        #expect(error?.reason == .configuration)
        let unsupported = launch(TransportConfiguration.TLS(identity: .pem(certificate: Data(), key: Data())))
        let other = await #expect(throws: NetworkError.self) {
            try await unsupported.start(request, to: path, with: try client(url))
        }
        #expect(other?.reason == .configuration)
        let session = launch(tls)
        try await session.start(request, to: path, with: pinned)
        #expect(try await outcome(session).failure?.contains("pin") == true)
        let trusting = launch(TransportConfiguration.TLS(trustedRoots: tls.trustedRoots))
        let transfer = try await trusting.start(request, to: path, with: try client(url))
        #expect(try await outcome(trusting, of: transfer).status == 200)
    }

    @Test("The app configures the session, and another one can follow after it is invalidated")
    func configuration() async throws {
        let server = try MockServer.always(.text("film"))
        let seen = Locked<URLSessionConfiguration?>(nil)
        let first = BackgroundSession(identifier: identifier, folder: folder.path) { settings in
            settings.sharedContainerIdentifier = "group.example"
            settings.urlCache = .shared
            let settings = Unchecked(settings)
            seen.withLock { $0 = settings.value }
        }
        let settings = try #require(seen.withLock { $0.map(Unchecked.init) }).value
        #expect(settings.sharedContainerIdentifier == "group.example" && settings.urlCache == nil)
        first.invalidate()
        let (path, client) = (folder.path + "/film", try client(server.url))
        let error = await #expect(throws: NetworkError.self) {
            try await first.start(Request<Void>.get("/"), to: path, with: client)
        }
        #expect(error?.reason == .refused(by: .shutdown))
        let second = launch()
        try await second.start(Request<Void>.get("/"), to: path, with: client)
        #expect(try await outcome(second).status == 200)
    }
}
