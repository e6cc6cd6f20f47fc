// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP
import CurlewTesting

/// One run of one case. It creates servers and transports and shuts them down at the end, and creates files and removes
/// them.
final class ConformanceTrial: Sendable {
    let environment: ConformanceEnvironment
    private let engine: ConformanceEngine
    private let made = Locked(Made())

    private struct Made {
        var servers: [MockServer] = []
        var transports: [any Transport] = []
        var first: (any Transport)?
        var files: [String] = []
    }

    /// The timeouts of exchanges: long enough for a busy machine, and short enough to end before the limit of the case.
    static let timeouts = Timeouts(
        connect: .seconds(10), firstByte: .seconds(15), idle: .seconds(15), total: .seconds(25))

    init(_ engine: ConformanceEngine, _ environment: ConformanceEnvironment) {
        self.engine = engine
        self.environment = environment
    }

    /// Starts a server with this configuration, by default on IPv4.
    func server(_ configuration: MockServer.Configuration = MockServer.Configuration()) throws -> MockServer {
        let server = try MockServer(configuration)
        made.withLock { $0.servers.append(server) }
        return server
    }

    /// Starts a server that responds to its first requests with these responses, in order.
    func server(answering responses: MockResponse...) throws -> MockServer {
        let server = try server()
        for response in responses { server.enqueue(response) }
        return server
    }

    func server(at origin: Origin) -> MockServer? {
        made.withLock { $0.servers.first { $0.origin == origin } }
    }

    /// Creates a new transport. It is not the shared transport of the trial.
    func transport(_ configuration: TransportConfiguration = TransportConfiguration()) throws -> any Transport {
        let transport = try engine.make(configuration, self)
        made.withLock { $0.transports.append(transport) }
        return transport
    }

    func shutDown(_ transport: any Transport, _ mode: TransportConfiguration.ShutdownMode = .now) async {
        await engine.shutDown(transport, mode)
    }

    /// Returns the URL or the path of a part of the environment. The case must declare the part in `needs`.
    func address(_ part: ConformanceEnvironment.Part) throws -> String {
        guard let address = environment.addresses[part] else {
            throw ConformanceFailure("the case has to name \(part.rawValue) among its needs")
        }
        return address
    }

    /// Creates a file that is removed at the end of the trial, and returns its path.
    func file(_ content: Data) throws -> String {
        let name = "curlew-conformance-\(UUID().uuidString)"
        let path = FileManager.default.temporaryDirectory.appendingPathComponent(name).path
        try content.write(to: URL(fileURLWithPath: path))
        made.withLock { $0.files.append(path) }
        return path
    }

    /// Performs one exchange over the given transport, or by default over the shared transport of the trial.
    func exchange(
        _ method: HTTPMethod = .get, _ url: String, headers: HTTPHeaders = [:], body: RequestBody = .empty,
        timeouts: Timeouts = timeouts, limits: Limits = .standard, over given: (any Transport)? = nil,
        observers: [any RequestObserver] = [], options change: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> HTTPResponse {
        var options = RequestOptions()
        change(&options)
        let context = ExchangeContext(options: options, timeouts: timeouts, limits: limits, observers: observers)
        return try await (given ?? shared()).send(
            HTTPRequest(method, url: url, headers: headers, body: body), in: context)
    }

    private func shared() throws -> any Transport {
        if let first = made.withLock({ $0.first }) { return first }
        let transport = try transport()
        // If two tasks create a transport concurrently, both use the one that was stored first.
        return made.withLock { made in
            made.first = made.first ?? transport
            return made.first ?? transport
        }
    }

    /// Shuts down the transports and servers of the trial, and removes its files.
    func end() async {
        let made = made.withLock { made in
            defer { made = Made() }
            return made
        }
        for transport in made.transports { await engine.shutDown(transport, .now) }
        for server in made.servers { server.stop() }
        for path in made.files { try? FileManager.default.removeItem(atPath: path) }
    }
}
