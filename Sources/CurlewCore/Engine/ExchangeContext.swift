// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// What travels beside a request through the pipeline: identity, options and deadlines. Never configuration.
///
/// A small value: what does not change during a call sits behind one reference, the rest is copied from hop to hop.
public struct ExchangeContext: Sendable {
    private let call: Call

    /// Which try this is, counted from one.
    public var attempt = 1
    /// How many redirects led here.
    public var hop = 0
    /// True once a redirect has left the origin of the call. It stays true: no credential is attached any more.
    public var crossedOrigin = false
    /// True once a credential is attached. An interceptor of one's own that attaches one passes it on like this.
    public var isAuthenticated = false
    /// The end of the whole call.
    public var totalDeadline: Deadline
    /// When the head of this attempt's response has to be there.
    public var attemptDeadline = Deadline.never
    /// Who is asked once more when the request leaves the pipeline.
    package var departure: (any Departure)?
    /// What this attempt has waited in queues of the pipeline, in nanoseconds.
    private var waited: Int64 = 0
    /// A retry further out counts what succeeds.
    var isRetried = false
    /// What only redirected and repeated calls have, behind one reference that others do not pay for.
    private var detour: Detour?

    /// A context of one's own, for tests of interceptors and transports.
    public init(
        routeName: String = "", options: RequestOptions = RequestOptions(), timeouts: Timeouts = .standard,
        limits: Limits = .standard, clientOrigin: Origin? = nil, observers: [any RequestObserver] = [],
        time: any TimeSource = SystemTime(), fields: FieldRules = FieldRules()
    ) {
        self.init(
            Call(
                id: ExchangeID.next(), routeName: routeName, options: options, events: .serving(observers),
                endpoint: nil, codecs: options.codecs ?? .json,
                client: Client(
                    origin: clientOrigin, bounds: CallBounds(timeouts: timeouts, limits: limits), time: time,
                    fields: fields)))
    }

    init(_ call: Call) {
        self.call = call
        totalDeadline = Deadline(call.bounds.timeouts.total, after: call.start)
    }

    /// Tells the calls of this process apart; counts up from one.
    public var id: UInt64 { call.id }
    /// The endpoint's name, for logs and metrics.
    public var routeName: String { call.routeName }
    /// When the call began.
    public var start: MonotonicInstant { call.start }
    /// What the call asked for.
    public var options: RequestOptions { call.options }
    /// What the call asked for under an extension's key. Unlike `options`, it copies nothing else.
    package subscript<Key: RequestOptionKey>(key: Key.Type) -> Key.Value { call.options[key] }
    /// Whether the call goes with a credential, and with which.
    public var authentication: AuthenticationChoice { call.authentication }
    /// The timeouts in force: the call's laid over the client's.
    public var timeouts: Timeouts { call.bounds.timeouts }
    /// The limits in force: the call's laid over the client's.
    public var limits: Limits { call.bounds.limits }
    /// What the app knows of its fields.
    public var fields: FieldRules { call.client.fields }
    /// What texts about the call do not show, beyond what Curlew knows.
    package var secrets: DeclaredSecrets { call.client.secrets }
    /// The fields of the client's configuration, which go to its origin only.
    package var homeFields: Set<HTTPField.Name> { call.client.homeFields }
    /// The origin of the client's base URL. Credentials belong to it unless they name another.
    public var clientOrigin: Origin? { call.client.origin }
    /// Where time comes from.
    public var time: any TimeSource { call.client.time }
    /// How the call writes and reads bodies, for what answers in place of a server.
    package var codecs: Codecs { call.codecs }
    /// The endpoint that was sent, for typed stubs.
    package var endpoint: (any Sendable)? { call.endpoint }

    /// This context once a credential is attached.
    package var authenticated: ExchangeContext {
        var copy = self
        copy.isAuthenticated = true
        return copy
    }

    /// The context of another call that this one has started and that outlives it: with a number, a start and a total time of
    /// its own, and the same options.
    func ofItsOwn(total: Duration) -> ExchangeContext {
        var copy = ExchangeContext(call.again())
        copy.totalDeadline = Deadline(total, after: copy.start)
        copy.hop = hop
        copy.crossedOrigin = crossedOrigin
        copy.isAuthenticated = isAuthenticated
        copy.detour = detour
        copy.pastAttempts = []
        copy.sharedDeadline = nil
        return copy
    }

    /// The redirects that led here, oldest first.
    public package(set) var redirects: [Redirect] {
        get { detour?.facts.redirects ?? [] }
        set { change { $0.redirects = newValue } }
    }

    /// Which fields go along once the origin is left. Before that, only the declared secrets are in it.
    package var forwardedFields: ForwardedFields {
        get { detour?.facts.forwardedFields ?? ForwardedFields() }
        set { change { $0.forwardedFields = newValue } }
    }

    /// The `Cookie` field as the client's jar made it for this hop: the one secret that a foreign origin may get.
    package var jarCookie: String? {
        get { detour?.facts.jarCookie }
        set { change { $0.jarCookie = newValue } }
    }

    /// The key with which credentials are hashed into a principal; nil for the key of the process.
    package var principalKey: PrincipalKey? {
        get { detour?.facts.principalKey }
        set { change { $0.principalKey = newValue } }
    }

    /// This context with `key` as the key for principals.
    func hashing(with key: PrincipalKey) -> ExchangeContext {
        var copy = self
        copy.principalKey = key
        return copy
    }

    /// What the call has tried before, oldest first, on this hop and on those that led here.
    public package(set) var pastAttempts: [Attempt] {
        get { detour?.facts.pastAttempts ?? [] }
        set { change { $0.pastAttempts = newValue } }
    }

    private mutating func change(_ change: (inout Detour.Facts) -> Void) {
        var facts = detour?.facts ?? Detour.Facts()
        change(&facts)
        detour = Detour(facts)
    }

    /// True when sending `request` again intends the same as sending it once (RFC 9110 §9.2.2): the call says so
    /// (`RequestOptions.isIdempotent`), else its method does, or an `Idempotency-Key` lets the server tell.
    ///
    /// The one definition for retries, and for engines that would send again by themselves.
    public func mayRepeat(_ request: HTTPRequest) -> Bool {
        if let declared = call.options.isIdempotent { return declared }
        return request.method.isIdempotent || !(request.headers[.idempotencyKey] ?? "").isEmpty
    }

    /// The earlier of the two deadlines.
    public var deadline: Deadline {
        totalDeadline.earlier(attemptDeadline)
    }

    /// When no caller needs the response any more. Unlike `deadline`, it is known of an exchange that several calls share: that
    /// of the most patient one. Policies ask it whether a wait is worth while.
    package var horizon: Deadline {
        guard let shared = detour?.facts.sharedDeadline else { return deadline }
        return shared.latest.earlier(attemptDeadline)
    }

    /// The deadline of the calls that share the exchange; nil if it is one call's.
    var sharedDeadline: SharedDeadline? {
        get { detour?.facts.sharedDeadline }
        set { change { $0.sharedDeadline = newValue } }
    }

    /// What this attempt has waited in queues of the pipeline.
    package var queued: Duration {
        get { .nanoseconds(waited) }
        set { waited = newValue.wholeNanoseconds }
    }

    /// True when there are observers. Ask before building an event that costs something.
    public var isObserved: Bool { call.events != nil }

    /// Which sending of the call an event belongs to, counted from one; nil for events of the call as a whole. Unlike
    /// `attempt`, it tells the two sendings of a hedged attempt apart.
    public var sending: Int? { detour?.facts.sending?.number }

    /// Tells the observers, on their queue; `event` is made only if there are any. Returns at once, on any thread.
    public func record(_ event: @autoclosure () -> ExchangeEvent) {
        guard let events = call.events else { return }
        var event = event().withholding(call.client.secrets)
        // The transport cannot know of waits in the pipeline.
        if waited > 0, case .measured(var metrics) = event {
            metrics.queue = (metrics.queue ?? .zero) + queued
            event = .measured(metrics)
        }
        if let sending = detour?.facts.sending {
            sending.take(event, in: self)
        } else {
            events.tell(event, in: self)
        }
    }

    /// Records the last event of a call. What its sendings have left open is told before it.
    func conclude(with event: @autoclosure () -> ExchangeEvent) {
        guard let events = call.events else { return }
        let event = event()
        if case .succeeded = event { events.end(readsOn: true) } else { events.end(readsOn: false) }
        record(event)
    }

    /// Returns when everything that has been recorded is told; see `EventQueue.told()`.
    package func eventsTold() async {
        await call.events?.queue.told()
    }

    /// Where the events of the call go, for calls that are made on its behalf.
    var events: EventQueue? { call.events?.queue }

    /// This context for a request that leaves the pipeline: what is recorded with it are the events of one sending.
    func beginSending() -> ExchangeContext {
        guard let events = call.events else { return self }
        var copy = self
        copy.change { $0.sending = events.begin(in: self) }
        return copy
    }

    /// Tells of the end of a body that the transport does not tell of.
    func watchEnd(of body: ResponseBody) -> ResponseBody {
        guard let sending = detour?.facts.sending, !body.isAtHand else { return body }
        return body.onEnd { _ in sending.endBody(in: self) }
    }

    private final class Detour: Sendable {
        struct Facts: Sendable {
            var redirects: [Redirect] = []
            var forwardedFields = ForwardedFields()
            var jarCookie: String?
            var pastAttempts: [Attempt] = []
            var principalKey: PrincipalKey?
            var sharedDeadline: SharedDeadline?
            var sending: SendingEvents?
        }

        let facts: Facts

        init(_ facts: Facts) { self.facts = facts }
    }
}

/// Numbers for calls: a counter is cheaper than a random identifier and sorts by time.
enum ExchangeID {
    private static let last = Locked<UInt64>(0)

    static func next() -> UInt64 {
        last.withLock { last in
            last &+= 1
            return last
        }
    }
}
