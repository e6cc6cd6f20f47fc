// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP
import Dispatch

/// The state that the threads of a server share. It exists until the last thread has ended.
final class MockServerCore: Sendable {
    let configuration: MockServer.Configuration
    let origin: Origin
    let stopSignal: StopSignal
    private let listener: Int32
    let state = Monitor(State())
    /// The group of the running threads, so that `stop` can wait for them with a time limit.
    private let threads = DispatchGroup()

    struct State {
        var routes = RouteTable<MockServer.Handler>()
        var queue: [MockResponse] = []
        var requests: [RecordedRequest] = []
        var requestCount = 0
        var sentBytes = 0
        var connectionCount = 0
        /// The descriptors of the connections that the server has not closed yet.
        var sockets: Set<Int32> = []
        var peakOpenConnections = 0
        var threadIDs: Set<UInt> = []
        var isStopped = false

        /// Adds a new connection, and updates the largest number of connections that the clients have open. Connections
        /// that a client has closed do not count: a client may close one connection and open the next before the
        /// server's thread notices.
        mutating func open(_ socket: Int32) {
            sockets.insert(socket)
            guard sockets.count > peakOpenConnections else { return }
            peakOpenConnections = max(peakOpenConnections, sockets.count { !LoopbackSocket.isClosed($0) })
        }

        var unmatched: [RequestMismatch] = []

        /// Stores a report; of more than 100, the last ones.
        mutating func add(_ report: RequestMismatch) {
            if unmatched.count >= 100 { unmatched.removeFirst() }
            unmatched.append(report)
        }

        /// Counts a request, and stores it unless `limit` requests are stored already.
        mutating func record(_ request: RecordedRequest, upTo limit: Int) {
            requestCount += 1
            if requests.count < limit { requests.append(request) }
        }
    }

    init(_ configuration: MockServer.Configuration) throws(MockError) {
        self.configuration = configuration
        stopSignal = try StopSignal()
        let (descriptor, port) = try LoopbackSocket.openListener(configuration.address, port: configuration.port)
        let host = configuration.address == .ipv4 ? "127.0.0.1" : "[::1]"
        guard let origin = Origin(scheme: "http", host: host, port: port) else {
            close(descriptor)
            throw MockError("the mock server received no port")
        }
        self.origin = origin
        listener = descriptor
    }

    /// Starts the thread that accepts connections. The thread closes the listener when it ends.
    func start() throws(MockError) {
        let started = startThread { core in
            core.acceptConnections()
            close(core.listener)
        }
        guard started else {
            close(listener)
            throw MockError("the mock server could not start a thread")
        }
    }

    func stop() {
        stopSignal.raise()
        let isOwnThread = state.withLock { state in
            state.isStopped = true
            return state.threadIDs.contains(ServerThread.currentID)
        }
        if !isOwnThread { _ = threads.wait(timeout: .now() + 10) }
    }

    /// Runs `body` on a new thread that `stop` waits for. Returns `false` if the system has no free thread.
    private func startThread(_ body: @escaping @Sendable (MockServerCore) -> Void) -> Bool {
        threads.enter()
        let started = ServerThread.start { [self] in
            state.withLock { _ = $0.threadIDs.insert(ServerThread.currentID) }
            body(self)
            state.withLock { _ = $0.threadIDs.remove(ServerThread.currentID) }
            threads.leave()
        }
        if !started { threads.leave() }
        return started
    }
}

extension MockServerCore {
    private func acceptConnections() {
        while true {
            // At the limit, connections wait in the system's backlog, as they do when the system has no free
            // descriptors.
            let isFull = state.withLock { $0.sockets.count >= configuration.maximumConnections }
            let deadline = SystemTime.Deadline(isFull ? .milliseconds(5) : nil, after: SystemTime().now)
            guard stopSignal.wait(for: isFull ? 0 : POLLIN, on: listener, until: deadline) != .stopped else { return }
            if isFull { continue }
            guard let descriptor = LoopbackSocket.nextConnection(listener) else {
                let pause = SystemTime.Deadline(.milliseconds(1), after: SystemTime().now)
                guard stopSignal.wait(for: 0, on: listener, until: pause) != .stopped else { return }
                continue
            }
            let index = state.withLock { state in
                defer { state.connectionCount += 1 }
                state.open(descriptor)
                return state.connectionCount
            }
            let started = startThread { MockConnection(descriptor, index: index, core: $0).run() }
            if !started { closeConnection(descriptor) }
        }
    }

    /// Closes the descriptor of a connection. Removes the descriptor from the set first, because the system reuses its
    /// number.
    func closeConnection(_ socket: Int32) {
        state.withLock { _ = $0.sockets.remove(socket) }
        close(socket)
    }

    func add(_ pattern: RoutePattern, _ handler: @escaping MockServer.Handler) {
        state.withLock { $0.routes.add(pattern, handler) }
    }

    func addSentBytes(_ count: Int) {
        state.withLock { $0.sentBytes += count }
    }

    func response(to received: RecordedRequest) -> MockResponse {
        var request = received
        let (match, scripted): (Match, MockResponse?) = state.withLock { state in
            let match = Self.match(request, in: state.routes)
            if case .found(_, let parameters, _) = match { request.parameters = parameters }
            state.record(request, upTo: configuration.maximumRecordedRequests)
            return (match, state.queue.isEmpty ? nil : state.queue.removeFirst())
        }
        if let scripted { return scripted }
        switch match {
        case .found(let handler, _, let pattern):
            do {
                return try handler(request)
            } catch {
                return .problem(.internalServerError, "the route \(pattern) threw \(error)")
            }
        case .otherMethods(let methods):
            return refusal(of: request, 405, suffix: ", only for other methods")
                .with(headers: ["Allow": methods.map(\.rawValue).joined(separator: ", ")])
        case .none: return refusal(of: request, .notFound, suffix: "")
        }
    }

    /// Returns the response to a request without a route, and stores the report about it.
    private func refusal(of request: RecordedRequest, _ status: HTTPStatus, suffix: String) -> MockResponse {
        let path = Redaction.standard.url(request.path)
        let summary = "no route for \(request.method) \(path)\(suffix)"
        let report = state.withLock { state in
            let routes = state.routes.patterns.map { $0.candidate(for: request.method, path) }
            let report = RequestMismatch(summary + ".", among: routes, noun: .route)
            state.add(report)
            return report
        }
        // A program gets problem details; a person at a terminal or in a browser reads the lines.
        let accept = request.headers[.accept].map { $0.lowercased() }
        guard let accept, accept.utf8.firstRange(of: "json".utf8) == nil else {
            return .problem(status, accept == nil ? summary : report.description)
        }
        return .text(report.description + "\n", status: status)
    }

    func record(_ request: RecordedRequest) {
        state.withLock { $0.record(request, upTo: configuration.maximumRecordedRequests) }
    }

    /// Returns the interruption of the next enqueued response if that interruption occurs before the request is read;
    /// otherwise `nil`. With `take`, also removes the response from the queue.
    func unreadInterruption(take: Bool) -> MockResponse.Interruption? {
        state.withLock { state in
            guard let cut = state.queue.first?.faults.cut, cut.stage == .beforeRequestRead else { return nil }
            if take { state.queue.removeFirst() }
            return cut.interruption
        }
    }

    /// Removes and returns the next enqueued response if it is to be sent before the content of its request has
    /// arrived.
    func takeEarlyResponse() -> MockResponse? {
        state.withLock { $0.queue.first?.faults.isEarly == true ? $0.queue.removeFirst() : nil }
    }

    func waitForRequests(count: Int, timeout: Duration) async throws {
        let isReceived = try await state.wait(for: timeout) { state in
            state.requestCount >= count ? true : state.isStopped ? false : nil
        }
        if isReceived == true { return }
        throw MockError(
            isReceived == nil
                ? "\(count) requests were not received within \(timeout)" : "the mock server was stopped")
    }

    private typealias Match = RouteTable<MockServer.Handler>.Match

    private static func match(_ request: RecordedRequest, in routes: RouteTable<MockServer.Handler>) -> Match {
        let match = routes.match(request.method, request.path)
        if case .found = match { return match }
        guard request.method == .head,
            case .found(let handler, let parameters, let pattern) =
                routes.match(.get, request.path)
        else { return match }
        return .found(handler, parameters, pattern)
    }
}
