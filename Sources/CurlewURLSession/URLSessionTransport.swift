// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewHTTP

#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// A transport that uses URLSession: the default on Apple platforms, and an alternative on Linux.
///
///     import CurlewURLSession
///
///     let client = APIClient(
///         baseURL: "https://api.example.com", pipeline: .standard, transport: URLSessionTransport())
///
/// In its own session, the transport disables redirects, cookies, caches, stored credentials and timeouts: interceptors
/// implement these policies identically for every transport. The transport keeps the guarantees of `Transport` as far
/// as URLSession allows; <doc:URLSession> lists the exceptions:
/// - Each exchange completes exactly once, and cancellation ends it immediately in every phase.
/// - One timer enforces `firstByte`, `idle` and the deadlines. URLSession does not report when a connection is
///   established, so `connect` is part of `firstByte`.
/// - Response fields are delivered as Foundation stores them: sorted by name, and joined if repeated. Set-Cookie is
///   split.
/// - On Apple platforms, a reader that pauses suspends the task. On Linux that is not possible: if more than 16 MiB are
///   unread, the exchange ends with `.limitExceeded(.responseBody)`.
/// - On Linux, a streamed request body is produced before it is sent, in memory up to 1 MiB and otherwise in a
///   temporary file of at most 1 GiB; a longer one fails with `.encoding`. A request with a body, or one that must not
///   be repeated (`ExchangeContext.mayRepeat`), uses a new connection, which is closed after the exchange. At most
///   `pool.perHost` of these requests run at a time for one origin; further ones wait.
/// - WebSocket connections use `URLSessionWebSocketTask` on Apple platforms. On Linux, they fail with `.configuration`.
/// - With an option of `TransportConfiguration` that URLSession does not support, every call throws `.configuration`.
public final class URLSessionTransport: Transport {
    /// The configuration that the transport was created with; for an existing session, the default configuration.
    public let configuration: TransportConfiguration

    /// The engine whose requests share connections.
    private let pooled: SessionEngine
    /// On Linux, the engine that opens a new connection for each request, for requests that libcurl must not send
    /// again. On Apple platforms, the same engine as `pooled`.
    private let single: SessionEngine
    private let watch = DeadlineWatch()
    private let state = Monitor(State())
    private let problem: (text: String, hint: String?)?
    private let proxies: EnvironmentProxies?
    /// The fields that the session adds to every request.
    private let addedFields: [HTTPField.Name]

    private struct State {
        var isStopped = false
        var active: [ObjectIdentifier: any SessionExchange] = [:]
        var completed = 0
    }

    /// Creates a transport with its own session. Never fails and opens no connection.
    ///
    /// - `configuration`: trust, proxy, connections per host and buffers for bodies. If an option is invalid or
    ///   URLSession does not support it, `send` throws `.configuration`.
    /// - `session`: options that only URLSession has, such as protocol classes, additional fields,
    ///   `waitsForConnectivity` and service types. The transport uses a copy without caches, cookies, credential
    ///   storage and timeouts, in which `configuration` sets the proxy, the TLS versions and the connections per host.
    ///   Default nil: an ephemeral one. With a background configuration, `send` throws `.configuration`.
    public init(
        configuration: TransportConfiguration = TransportConfiguration(), session: URLSessionConfiguration? = nil
    ) {
        self.configuration = configuration
        let settings = SessionSettings.problem(session)
        let unsupported = Unsupported.problems(configuration, on: .current).first
        problem =
            (configuration.problems.first ?? settings).map { ($0, nil) }
            ?? unsupported.map { ($0, Unsupported.hint(on: .current)) }
        // The session is never used if its configuration is invalid.
        let base = settings == nil ? session : nil
        addedFields = (session?.httpAdditionalHeaders ?? [:]).keys.map { HTTPField.Name("\($0)") }
        #if canImport(Darwin)
        pooled = SessionEngine(SessionSettings.make(base, configuration), AppleTrust(configuration))
        single = pooled
        proxies = nil
        #else
        pooled = SessionEngine(SessionSettings.make(base, configuration))
        single = SessionEngine(singleUse: SessionSettings.make(base, configuration), configuration.pool)
        proxies = EnvironmentProxies(ProcessInfo.processInfo.environment)
        #endif
    }

    #if canImport(Darwin)
    /// Creates a transport that uses an existing session with its own configuration. Of `TransportConfiguration`, only
    /// the defaults of `bodyBuffer` and `smallBody` apply.
    ///
    /// The transport is the delegate of its tasks: it returns redirects and 401 responses as they are, and stores no
    /// response in the session's cache. The session's own delegate receives only session-level events, such as a
    /// challenge that it handles itself, and the task events that the transport does not implement (`didCreateTask`).
    ///
    /// Responses that are already in the session's cache, and its stored credentials, may be used: use the other
    /// initializer if transports should behave identically. With a background session, `send` throws `.configuration`.
    ///
    /// `shutdown` does not invalidate the session. Do not invalidate it before `shutdown` has returned: URLSession
    /// terminates the process if a task is created after that.
    public init(session: URLSession) {
        configuration = TransportConfiguration()
        problem = SessionSettings.problem(identifier: session.configuration.identifier).map { ($0, nil) }
        addedFields = (session.configuration.httpAdditionalHeaders ?? [:]).keys.map { HTTPField.Name("\($0)") }
        pooled = SessionEngine(session, AppleTrust(configuration))
        single = pooled
        proxies = nil
    }
    #endif

    deinit {
        pooled.invalidate()
        if single !== pooled { single.invalidate() }
    }

    /// The transport that clients on Apple platforms share by default, with the system's proxy settings. On Linux, it
    /// uses the proxies of the environment.
    public static let shared = URLSessionTransport(configuration: TransportConfiguration(proxy: .environment))

    /// Returns the principal of the client certificate that `configuration` has for the host of the request. Returns
    /// `.anonymous` if there is none, and `.unknown` if the file of the certificate cannot be accessed, or if the
    /// session adds a field to every request that is not known to be harmless (`httpAdditionalHeaders`).
    public func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal {
        guard addedFields.allSatisfy({ context.fields.isHarmless($0) }) else { return .unknown }
        return configuration.principal(of: request, in: context)
    }

    /// Performs one exchange. Throws only `NetworkError`: among others `.configuration` for an unsupported option and
    /// for trailers, and `.invalidRequest` for a request that URLSession would change.
    public func send(_ request: HTTPRequest, in context: ExchangeContext) async throws -> HTTPResponse {
        try request.validate()
        try check(request, isUpgrade: context.options.upgrade != nil)
        // The timer would fire too late: a session connects immediately.
        let now = context.time.now
        guard !context.deadline.hasPassed(at: now) else {
            let phase: NetworkError.Phase = context.totalDeadline.hasPassed(at: now) ? .total : .attempt
            var failure = NetworkError.timeout(phase, context.timeouts, TimeoutTracker(context))
            failure.request = NetworkError.RequestLine(request)
            throw failure
        }
        #if canImport(Darwin)
        if let upgrade = context.options.upgrade {
            return try await SocketBridge(request, context, messageLimit: upgrade.messageLimit, host: self).response()
        }
        #endif
        // libcurl sends a request again if the reused connection turns out to be dead. Foundation does not rewind a
        // body for that: the server could read the next request on that connection as the missing bytes.
        let isSafeAgain = context.mayRepeat(request) && request.body.isEmpty
        let engine = isSafeAgain ? pooled : single
        return try await TaskBridge(request, context, engine: engine, owner: self).response()
    }

    /// Refuses new exchanges, and ends the running ones immediately or lets them finish. The default mode is `.now`.
    /// Returns when none is running. Cancelling the task that calls this method does not shorten the wait.
    public func shutdown(_ mode: TransportConfiguration.ShutdownMode = .now) async {
        state.withLock { $0.isStopped = true }
        switch mode {
        case .drain(let time) where time > .zero:
            let timer = Task { [weak self] in
                try await SystemTime().sleep(for: time)
                self?.endAll()
            }
            await untilIdle()
            timer.cancel()
        default:
            endAll()
            await untilIdle()
        }
        pooled.invalidate()
        if single !== pooled { single.invalidate() }
    }

    /// The numbers of `active` and `completed` exchanges; `active` includes those that wait for a connection. The other
    /// values are 0, because URLSession reports nothing about its connections.
    public var snapshot: TransportConfiguration.Pool.Snapshot {
        var snapshot = TransportConfiguration.Pool.Snapshot()
        (snapshot.active, snapshot.completed) = state.withLock { ($0.active.count, $0.completed) }
        return snapshot
    }

    private func endAll() {
        pooled.end()
        single.end()
        for exchange in state.withLock({ Array($0.active.values) }) { exchange.fail(SystemFailure.shutdown) }
    }

    private func untilIdle() async {
        await state.waitThroughCancellation { $0.active.isEmpty ? () : nil }
    }
}

extension URLSessionTransport {
    /// The limit for unread bodies: the task is suspended on Apple platforms, and the exchange fails on Linux.
    var flow: TaskMachine.Flow {
        #if canImport(Darwin)
        .suspends(at: configuration.bodyBuffer)
        #else
        .fails(beyond: 16 << 20)
        #endif
    }

    /// Throws if URLSession cannot send the request unchanged, or if the configuration is invalid.
    private func check(_ request: HTTPRequest, isUpgrade: Bool) throws(NetworkError) {
        let line = NetworkError.RequestLine(request)
        if let problem { throw NetworkError(.configuration, detail: problem.text, hint: problem.hint, request: line) }
        if let text = proxies?.problem(for: request.origin, configuration.proxy) {
            throw NetworkError(.configuration, detail: text, hint: EnvironmentProxies.hint, request: line)
        }
        if let text = proxies?.keyLogProblem(for: request.origin, configuration.tls) {
            throw NetworkError(.configuration, detail: text, request: line)
        }
        if isUpgrade, let problem = SocketRequest.problem(on: .current) {
            throw NetworkError(.configuration, detail: problem.text, hint: problem.hint, request: line)
        }
        if request.body.trailers != nil {
            let hint = Unsupported.hint(on: .current)
            throw NetworkError(.configuration, detail: "URLSession sends no trailers.", hint: hint, request: line)
        }
        if let refusal = RequestGuard.problem(request, on: .current) {
            throw NetworkError(.invalidRequest, detail: refusal.text, hint: refusal.hint, request: line)
        }
    }

    /// Starts an exchange. On Linux, a streamed body is produced first.
    func begin(_ bridge: TaskBridge) {
        guard admit(bridge) else { return bridge.fail(SystemFailure.shutdown) }
        bridge.watchDeadlines()
        do {
            let message = try RequestGuard.message(
                bridge.request, skipsContentDecoding: bridge.context.options.skipsContentDecoding == true,
                closes: bridge.engine !== pooled)
            let plan = try UploadPlan(bridge.request.body)
            #if canImport(Darwin)
            var streamed = message
            if let length = plan.declaredLength { streamed.setValue("\(length)", forHTTPHeaderField: "Content-Length") }
            bridge.engine.start(bridge, streamed, plan)
            #else
            guard case .stream = plan.source else { return bridge.engine.start(bridge, message, plan) }
            produce(plan, for: bridge, message)
            #endif
        } catch {
            bridge.fail(NetworkError(error))
            bridge.endUnstarted()
        }
    }

    /// Adds an exchange to the active ones. Returns false after a shutdown.
    private func admit(_ exchange: any SessionExchange) -> Bool {
        state.withLock { state in
            if !state.isStopped { state.active[ObjectIdentifier(exchange)] = exchange }
            return !state.isStopped
        }
    }

    private func produce(_ plan: UploadPlan, for bridge: TaskBridge, _ message: URLRequest) {
        let work = Task {
            do {
                let ready = try await plan.produced {
                    bridge.markProducing()
                    return !bridge.isEnded
                }
                bridge.engine.start(bridge, message, ready)
            } catch {
                bridge.fail(NetworkError(error))
                bridge.endUnstarted()
            }
        }
        bridge.whenEnded { work.cancel() }
    }

    func scheduleCheck(of exchange: any SessionExchange, at moment: Int64) {
        watch.add(exchange, at: moment)
    }

    /// Removes an exchange after URLSession has finished its task, and resumes the callers of `shutdown` after the last
    /// one.
    func finished(_ exchange: any SessionExchange) {
        watch.remove(exchange)
        state.withLock { state in
            if state.active.removeValue(forKey: ObjectIdentifier(exchange)) != nil { state.completed += 1 }
        }
    }
}

#if canImport(Darwin)
extension URLSessionTransport: SocketHost {
    func begin(_ socket: SocketBridge) {
        guard admit(socket) else { return socket.fail(SystemFailure.shutdown) }
        socket.watchDeadlines()
        do throws(NetworkError) {
            pooled.start(socket, try SocketRequest.message(socket.request))
        } catch {
            socket.fail(error)
            socket.endUnstarted()
        }
    }
}
#endif

extension URLSessionTransport: CustomStringConvertible {
    /// The name of the transport: `URLSession`.
    public var description: String { "URLSession" }
}
