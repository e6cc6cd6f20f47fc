// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewHTTP

#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// The engine on Apple platforms: URLSession, without any policy of its own. On Linux a fallback, to be asked for.
///
///     import CurlewURLSession
///
///     let client = APIClient(baseURL: "https://api.example.com", pipeline: .standard, transport: URLSessionTransport())
///
/// What URLSession would decide by itself is switched off: redirects, cookies, caches, stored credentials, its own
/// timeouts. Interceptors decide that, the same on every engine. It keeps the guarantees of `Transport` as far as
/// URLSession lets it; <doc:URLSession> lists what it does not:
/// - Each call completes exactly once, and cancellation ends it at once in every phase.
/// - `firstByte`, `idle` and the deadlines are kept by one timer. URLSession does not tell when a connection stands, so
///   `connect` is part of `firstByte`.
/// - Fields come as Foundation keeps them: sorted by name, joined where they were repeated; Set-Cookie is taken apart.
/// - A reader who pauses suspends the task on Apple platforms. On Linux that is not possible: more than `unreadBody`
///   waiting bytes end the exchange with `.limitExceeded(.responseBody)`.
/// - On Linux a request with a body, and one that must not be repeated (`ExchangeContext.mayRepeat`), gets a new
///   connection, which is closed after it. At most `pool.perHost` of them run with one origin at a time.
/// - Options of `TransportConfiguration` that URLSession does not have make every call throw `.configuration`.
public final class URLSessionTransport: Transport {
    /// How it connects.
    public let configuration: TransportConfiguration
    /// On Linux, the most bytes of one body that wait for its reader. Default 16 MiB.
    public let unreadBody: Int
    /// On Linux, the most bytes of a streamed request body, which is kept in a file before it is sent. Default 1 GiB.
    public let uploadSpool: Int64

    /// The engine whose requests share connections.
    private let pooled: SessionEngine
    /// On Linux, the engine whose requests each get a new connection: those that libcurl must not send again.
    private let single: SessionEngine
    private let watch = DeadlineWatch()
    private let state = Locked(State())
    private let problem: (text: String, hint: String?)?
    private let proxies: EnvironmentProxies?

    private struct State {
        var isStopped = false
        var active: [ObjectIdentifier: TaskBridge] = [:]
        var completed = 0
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    /// A transport with a session of its own.
    ///
    /// - `configuration`: trust, proxy and connections for each host. What URLSession cannot do is refused by `send`.
    /// - `session`: for what only URLSession has: protocol classes, additional fields, `waitsForConnectivity`, service
    ///   types. A copy is used, with caches, cookies, credential storage and timeouts off. Default a plain one. With one
    ///   for background sessions every call throws `.configuration`; those are what `BackgroundSession` is for.
    /// - `unreadBody`: see there; at least 64 KiB.
    /// - `uploadSpool`: see there.
    ///
    /// Never fails and opens nothing.
    public init(
        configuration: TransportConfiguration = TransportConfiguration(), session: URLSessionConfiguration? = nil,
        unreadBody: Int = 16 << 20, uploadSpool: Int64 = 1 << 30
    ) {
        self.configuration = configuration
        self.unreadBody = max(64 << 10, unreadBody)
        self.uploadSpool = max(0, uploadSpool)
        let settings = SessionSettings.problem(session)
        let unsupported = Unsupported.problems(configuration, on: .current).first
        problem =
            (configuration.problems.first ?? settings).map { ($0, nil) }
            ?? unsupported.map { ($0, Unsupported.hint(on: .current)) }
        // With what cannot be sent the session is never used.
        let base = settings == nil ? session : nil
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
    /// A transport over a session that exists, with its own configuration. Needs no options of `TransportConfiguration`.
    ///
    /// The transport is the delegate of its tasks, so it decides about redirects, challenges and cached answers. Of those
    /// tasks the session's own delegate hears only what the transport does not implement (`waitsForConnectivity`,
    /// `didCreateTask`) and what concerns the session as a whole, such as a challenge that it answers itself.
    ///
    /// `shutdown` leaves the session open. Its caches, cookies and credentials stay as they are: prefer the other
    /// initialiser where engines should be alike. With a background session every call throws `.configuration`. Do not
    /// invalidate the session before `shutdown` has returned: URLSession ends the process when a task is made after that.
    public init(session: URLSession) {
        configuration = TransportConfiguration()
        unreadBody = 16 << 20
        uploadSpool = 1 << 30
        problem = SessionSettings.problem(identifier: session.configuration.identifier).map { ($0, nil) }
        pooled = SessionEngine(session, AppleTrust(configuration))
        single = pooled
        proxies = nil
    }
    #endif

    deinit {
        pooled.invalidate()
        if single !== pooled { single.invalidate() }
    }

    /// The engine that clients share when they name none, on Apple platforms. It follows the system's proxy settings.
    public static let shared = URLSessionTransport(configuration: TransportConfiguration(proxy: .environment))

    /// The client certificate, the Unix socket and the address that the configuration names for the request's host;
    /// `.anonymous` without.
    public func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal {
        configuration.principal(of: request, in: context)
    }

    /// Performs one exchange. Throws `NetworkError` only.
    public func send(_ request: HTTPRequest, in context: ExchangeContext) async throws -> HTTPResponse {
        try request.validate()
        try check(request)
        // The timer would come too late: a session begins to connect at once.
        let now = context.time.now
        guard !context.deadline.hasPassed(at: now) else {
            let phase: NetworkError.Phase = context.totalDeadline.hasPassed(at: now) ? .total : .attempt
            var failure = NetworkError.timeout(phase, context.timeouts)
            failure.request = RequestLine(request)
            throw failure
        }
        // libcurl sends a request again when the used connection that it took turns out to be dead. Foundation does not
        // rewind a body for that: the next request on that connection could be read as the missing bytes.
        let isSafeAgain = context.mayRepeat(request) && request.body.isEmpty
        let engine = isSafeAgain ? pooled : single
        return try await TaskBridge(request, context, engine: engine, owner: self).response()
    }

    /// Refuses new work from now on, and ends what runs at once or lets it finish.
    ///
    /// Returns when nothing runs any more. Cancelling the caller does not shorten that. Without a mode it is `.now`.
    public func shutdown(_ mode: ShutdownMode = .now) async {
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

    /// What the engine is busy with: `active` and `completed`. URLSession tells nothing about its connections.
    public var snapshot: TransportSnapshot {
        var snapshot = TransportSnapshot()
        (snapshot.active, snapshot.completed) = state.withLock { ($0.active.count, $0.completed) }
        return snapshot
    }

    private func endAll() {
        pooled.end()
        single.end()
        for bridge in state.withLock({ Array($0.active.values) }) { bridge.fail(SystemFailure.shutdown) }
    }

    private func untilIdle() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                if state.active.isEmpty { return true }
                state.waiters.append(continuation)
                return false
            }
            if isIdle { continuation.resume() }
        }
    }
}

/// The life of an exchange.
extension URLSessionTransport {
    /// How bodies are kept from filling memory.
    var flow: TaskMachine.Flow {
        #if canImport(Darwin)
        .suspends(at: configuration.bodyBuffer)
        #else
        .fails(beyond: unreadBody)
        #endif
    }

    /// Throws for what cannot be sent, or would not be sent as it is.
    private func check(_ request: HTTPRequest) throws(NetworkError) {
        let line = RequestLine(request)
        if let problem { throw NetworkError(.configuration, detail: problem.text, hint: problem.hint, request: line) }
        if let text = proxies?.problem(for: request.origin, configuration.proxy) {
            throw NetworkError(.configuration, detail: text, hint: EnvironmentProxies.hint, request: line)
        }
        if let text = proxies?.keyLogProblem(for: request.origin, configuration.tls) {
            throw NetworkError(.configuration, detail: text, request: line)
        }
        if request.body.trailers != nil {
            let hint = Unsupported.hint(on: .current)
            throw NetworkError(.configuration, detail: "URLSession sends no trailers.", hint: hint, request: line)
        }
        if let refusal = RequestGuard.problem(request, on: .current) {
            throw NetworkError(.invalidRequest, detail: refusal.text, hint: refusal.hint, request: line)
        }
    }

    /// Starts the exchange, after producing its body where that has to come first.
    func begin(_ bridge: TaskBridge) {
        let isStopped = state.withLock { state in
            if !state.isStopped { state.active[ObjectIdentifier(bridge)] = bridge }
            return state.isStopped
        }
        guard !isStopped else { return bridge.fail(SystemFailure.shutdown) }
        bridge.watchDeadlines()
        do {
            let message = try RequestGuard.message(
                bridge.request, rawBody: bridge.context.options.rawBody == true, closes: bridge.engine !== pooled)
            let plan = try UploadPlan(bridge.request.body)
            guard case .stream = plan.source else { return bridge.engine.start(bridge, message, plan) }
            #if canImport(Darwin)
            var streamed = message
            if let length = plan.declaredLength { streamed.setValue("\(length)", forHTTPHeaderField: "Content-Length") }
            bridge.engine.start(bridge, streamed, plan)
            #else
            produce(plan, for: bridge, message)
            #endif
        } catch {
            bridge.fail(NetworkError(error))
            bridge.endUnstarted()
        }
    }

    private func produce(_ plan: UploadPlan, for bridge: TaskBridge, _ message: URLRequest) {
        let limit = uploadSpool
        let work = Task {
            do {
                let ready = try await plan.produced(memory: 1 << 20, limit: limit) {
                    bridge.noteProducing()
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

    /// The next deadline of an exchange.
    func look(at bridge: TaskBridge, _ moment: Int64) {
        watch.add(bridge, at: moment)
    }

    /// The exchange is over, for URLSession too.
    func finished(_ bridge: TaskBridge) {
        watch.remove(bridge)
        bridge.engine.finished(bridge)
        let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            guard state.active.removeValue(forKey: ObjectIdentifier(bridge)) != nil else { return [] }
            state.completed += 1
            guard state.active.isEmpty else { return [] }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }
}

extension URLSessionTransport: CustomStringConvertible {
    /// `URLSession`.
    public var description: String { "URLSession" }
}
