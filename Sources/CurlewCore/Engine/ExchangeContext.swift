// SPDX-License-Identifier: MIT

import CurlewFoundation
public import CurlewHTTP

/// The context of a request in the pipeline: the identity, options and deadlines of its call.
///
/// A context is a small value. The properties of the call are in one shared object; the others are copied from hop to
/// hop.
public struct ExchangeContext: Sendable {
    private let call: Call

    /// The number of the attempt within its hop, counted from one.
    public var attempt = 1
    /// The number of redirects that led to this request.
    public var hop = 0
    /// True once a server has chosen an origin other than that of the call, by a redirect or as the URL of the next
    /// page or of an upload. From then on, interceptors attach no credentials, not even for the first origin.
    public var crossedOrigin = false
    /// True once a credential is attached. A custom interceptor that attaches a credential must set
    /// `isAuthenticated` to true in the context that it passes on.
    public var isAuthenticated = false
    /// The deadline of the call, which covers all hops and attempts and the reading of the body. In a call that stays
    /// open, such as one of a WebSocket, it covers only the time to the response head.
    public var totalDeadline: SystemTime.Deadline
    /// The deadline for the response head of this attempt, suspended while the request body is transferred. If there is
    /// no limit when the request leaves the pipeline, `timeouts.attempt` sets it.
    public var attemptDeadline = SystemTime.Deadline.never
    /// The policy that is checked when the request leaves the pipeline.
    package var sendCheck: (any SendCheck)?
    /// The time that this attempt has waited in queues of the pipeline, in nanoseconds.
    private var waited: Int64 = 0
    /// True if a retry interceptor closer to the caller counts successes for the budget, so that hedging must not count
    /// them again.
    package var isRetried = false
    /// The properties that most requests do not need, stored in one object.
    private var extras: Boxed<Extras>?
    /// The recorder of the request on the wire; nil in a client without observers, and in the pipeline.
    private var requestEvents: AttemptEvents?

    /// Creates a context for tests of interceptors and transports, from the properties of the same names. The call
    /// starts now. Its `options` override `timeouts` and `limits`.
    public init(
        routeName: String = "", options: RequestOptions = RequestOptions(), timeouts: Timeouts = .standard,
        limits: Limits = .standard, clientOrigin: Origin? = nil, observers: [any RequestObserver] = [],
        time: any TimeSource = SystemTime(), fields: Redaction.Rules = Redaction.Rules()
    ) {
        self.init(
            Call(
                id: Numbers.calls.next(), routeName: routeName, options: options, events: EventSinks(observers),
                endpoint: nil, codecs: options.codecs ?? .json,
                client: Client(
                    origin: clientOrigin, bounds: CallBounds(timeouts: timeouts, limits: limits), time: time,
                    fields: fields)))
    }

    init(_ call: Call) {
        self.call = call
        totalDeadline = SystemTime.Deadline(call.bounds.timeouts.total, after: call.start)
    }

    /// The number of the call, unique in this process and ascending from one.
    public var id: UInt64 { call.id }
    /// The number of the call on whose behalf this one is made, such as one that needs new tokens; nil for a call of
    /// the app.
    package var cause: UInt64? { call.client.cause }
    /// The name of the route or endpoint, for logs and metrics; empty if there is none.
    public var routeName: String { call.routeName }
    /// The moment when the call started, by the clock of `time`.
    public var start: SystemTime.Instant { call.start }
    /// The options of the call: its own, and those of the client where it sets none.
    public var options: RequestOptions { call.options }
    /// The call's value for a custom option. Unlike `options`, this subscript copies no other option.
    subscript<Key: RequestOptions.Key>(key: Key.Type) -> Key.Value { call.options[key] }
    // The options that a transport reads for each exchange, without a copy of the others.
    package var streams: Bool { call.options.streaming == true }
    package var decodesContent: Bool { call.options.skipsContentDecoding != true }
    package var upgrade: ProtocolUpgrade? { call.options.upgrade }
    var isLive: Bool { call.options.isLive }
    /// The credential with which the call is sent, and whether it is required. Default `.optional`.
    public var authentication: RequestOptions.Authentication { call.authentication }
    /// The timeouts in force: the client's, overridden by the call's.
    public var timeouts: Timeouts { call.bounds.timeouts }
    /// The limits in force: the client's, overridden by the call's.
    public var limits: Limits { call.bounds.limits }
    /// The names that the app and the interceptors declare as harmless or secret: of fields, cookies, query items,
    /// members and paths.
    public var fields: Redaction.Rules { call.client.fields }
    /// The declared secrets. Descriptions, logs and errors of the call redact them.
    package var secrets: DeclaredSecrets { call.client.secrets }
    /// The fields of the client's configuration that are sent to the client's origin only.
    var homeFields: Set<HTTPField.Name> { call.client.homeFields }
    /// The origin of the client's base URL; nil without one. Credentials are scoped to it unless they specify another.
    public var clientOrigin: Origin? { call.client.origin }
    /// The time source for deadlines, waits and dates.
    public var time: any TimeSource { call.client.time }
    /// The settings of the client; see `Client.settings`.
    var settings: (any Sendable)? { call.client.settings }
    /// The codecs of the call. Mocks encode responses with them, and errors decode the bodies of their responses.
    package var codecs: Codecs { call.codecs }
    /// The endpoint or route that was sent, which typed stubs match.
    package var endpoint: (any Sendable)? { call.endpoint }

    /// Returns the context of a separate call that this call starts and that may outlive it. The new call has its own
    /// number, start and total timeout, and keeps the options, the hop and the redirects of this context.
    package func ofItsOwn(total: Duration) -> ExchangeContext {
        var copy = ExchangeContext(call.again())
        copy.totalDeadline = SystemTime.Deadline(total, after: copy.start)
        copy.hop = hop
        copy.crossedOrigin = crossedOrigin
        copy.isAuthenticated = isAuthenticated
        copy.extras = extras
        copy.pastAttempts = []
        copy.sharedDeadline = nil
        return copy
    }

    package var facts: Facts {
        get { extras?.value.facts ?? Facts() }
        set { change { $0.facts = newValue } }
    }

    /// The origins of the hops before this request, oldest first.
    package var pastOrigins: [Origin] {
        get { extras?.value.pastOrigins ?? [] }
        set { change { $0.pastOrigins = newValue } }
    }

    /// The fields that may be sent once a redirect has left the origin of the call; until then, only its `secret` is
    /// set.
    package var forwardedFields: ForwardedFields {
        get { extras?.value.forwardedFields ?? ForwardedFields() }
        set { change { $0.forwardedFields = newValue } }
    }

    /// Records that a server has chosen the origin of the request, by a redirect or by a URL in a response. From then
    /// on no credential is attached, and only fields that are harmless or declared are sent.
    ///
    /// - `forwarding`: the fields declared for this call.
    mutating func leaveOrigin(forwarding: Set<HTTPField.Name>) {
        guard !crossedOrigin else { return }
        crossedOrigin = true
        forwardedFields.home = homeFields
        forwardedFields.declared = forwarding.union(fields.harmless)
        forwardedFields.secret.formUnion(fields.secret)
    }

    /// The fields that an interceptor created for the origin of this hop: the only secrets that a foreign origin may
    /// receive.
    package var hopFields: [HTTPField.Name: String] {
        get { extras?.value.hopFields ?? [:] }
        set { change { $0.hopFields = newValue } }
    }

    /// The key with which credentials are hashed into a principal; nil for the key of the process.
    var principalKey: PrincipalKey? {
        get { extras?.value.principalKey }
        set { change { $0.principalKey = newValue } }
    }

    /// The earlier attempts of the call, oldest first, on this hop and on earlier hops.
    public package(set) var pastAttempts: [NetworkError.Attempt] {
        get { extras?.value.pastAttempts ?? [] }
        set { change { $0.pastAttempts = newValue } }
    }

    private mutating func change(_ change: (inout Extras) -> Void) {
        extras = (extras ?? Boxed(Extras())).changed(change)
    }

    /// Returns whether `request` is idempotent (RFC 9110 §9.2.2). If the call sets `RequestOptions.isIdempotent`, that
    /// value decides. Otherwise the method decides, or a field `Idempotency-Key` that is not empty makes the request
    /// idempotent.
    ///
    /// Retries use this definition, and so do transports that would resend requests themselves.
    public func mayRepeat(_ request: HTTPRequest) -> Bool {
        if let declared = call.options.isIdempotent { return declared }
        return request.method.isIdempotent || !(request.headers[.idempotencyKey] ?? "").isEmpty
    }

    /// The earlier of `totalDeadline` and `attemptDeadline`.
    public var deadline: SystemTime.Deadline {
        totalDeadline.earlier(attemptDeadline)
    }

    /// The deadline after which no caller needs the response: `deadline` or, for an exchange that several calls share,
    /// the latest of their deadlines, limited by `attemptDeadline`. Policies use it to decide whether a wait is
    /// worthwhile.
    package var horizon: SystemTime.Deadline {
        guard let shared = extras?.value.sharedDeadline else { return deadline }
        return (shared.withLock { $0 } ?? .never).earlier(attemptDeadline)
    }

    /// The latest deadline of the calls that share the exchange; nil if the exchange belongs to one call. The value in
    /// the lock is nil until the first call joins, and `.never` if a call without a deadline has joined.
    package var sharedDeadline: Locked<SystemTime.Deadline?>? {
        get { extras?.value.sharedDeadline }
        set { change { $0.sharedDeadline = newValue } }
    }

    /// The time that this attempt has waited in queues of the pipeline.
    package var queued: Duration {
        get { .nanoseconds(waited) }
        set { waited = newValue.wholeNanoseconds }
    }

    /// True if events have a receiver: an observer or `onInterim`. Check it before creating an expensive event.
    package var isObserved: Bool { call.events != nil || onInterim != nil }

    /// Receives the interim responses that a transport records, on the transport's thread; nil if only observers do.
    /// For a transport that records the exchanges of another one.
    package var onInterim: (@Sendable (HTTPStatus, HTTPHeaders) -> Void)? {
        get { extras?.value.onInterim }
        set { change { $0.onInterim = newValue } }
    }

    /// The number of the request on the wire to which an event belongs, counted from one within the call; nil for
    /// events that belong to no single request, and without observers. Unlike `attempt`, it distinguishes the two
    /// requests of a hedged attempt.
    public var requestNumber: Int? { requestEvents?.number }

    /// Whether an observer of the client receives `ExchangeEvent.connecting`. Check it before creating such events.
    package var observesConnections: Bool { call.events?.sinks.detail == .connections }

    /// Records an event for the observers, which receive it later, on their dispatch queue. `event` is evaluated only
    /// if there are observers. May be called on any thread and returns immediately. After the end of its request or
    /// call, an event is dropped, except those that may occur then (`ExchangeEvent`).
    public func record(_ event: @autoclosure () -> ExchangeEvent) {
        guard isObserved else { return }
        let event = event()
        if case .interim(let status, let headers) = event { onInterim?(status, headers) }
        guard let events = call.events else { return }
        if case .measured(let metrics) = event { return record(metrics) }
        if let requestEvents { requestEvents.take(event, in: self) } else { events.record(event, in: self) }
    }

    /// Records an event of a capability, even if the call has ended. An error in the event must know the declared
    /// secrets.
    package func record(late event: @autoclosure () -> any ExchangeEvent.Feature) {
        call.events?.sinks.receive(.other(.feature(event())), in: self)
    }

    /// Records the measurements of the request on the wire: `ExchangeEvent.measured`.
    package func record(_ metrics: consuming ExchangeMetrics) {
        guard let events = call.events else { return }
        // The transport measures only its own queue, so the waits in the pipeline are added here.
        if waited > 0 { metrics.add(queued: queued) }
        if let requestEvents {
            requestEvents.measured(metrics, in: self)
        } else {
            events.record(.measured(metrics), in: self)
        }
    }

    package func begin(_ request: HTTPRequest) {
        call.events?.sinks.receive(.began(request), in: self)
    }

    /// Records that the call ended with a response, after the outstanding events of its requests.
    package func conclude(_ request: HTTPRequest, with response: HTTPResponse, after duration: Duration) {
        guard let events = call.events else { return }
        let requests = events.end(readsOn: true, in: self)
        events.sinks.receive(.succeeded(request, response, after: duration, requests: requests), in: self)
    }

    /// Records that the call failed, after the outstanding events of its requests. `request` is nil if none could be
    /// built.
    package func conclude(_ request: HTTPRequest?, with failure: NetworkError, after duration: Duration) {
        guard let events = call.events else { return }
        let requests = events.end(readsOn: false, in: self)
        let failure = failure.withholding(secrets)
        events.sinks.receive(.failed(request, failure, after: duration, requests: requests), in: self)
    }

    /// Waits until the observers have received all events recorded so far, at most five seconds.
    package func eventsDelivered() async {
        await call.events?.sinks.queue?.allDelivered()
    }

    /// The receivers of the events of the call. Calls that are made on its behalf have the same.
    var events: EventSinks? { call.events?.sinks }

    /// Changes the context to that of a request that leaves the pipeline, and records that it is sent. Events that are
    /// recorded with the context belong to that request.
    mutating func beginSending(_ request: HTTPRequest) {
        guard let requestEvents = call.events?.begin(request, in: self) else { return }
        self.requestEvents = requestEvents
        requestEvents.sent(request, in: self)
    }

    /// Returns the context of the request whose events `events` records.
    func sending(_ events: AttemptEvents) -> ExchangeContext {
        var copy = self
        copy.requestEvents = events
        return copy
    }

    /// Records the response for the observers, and observes the end of its body.
    func record(_ response: inout HTTPResponse) {
        guard let requestEvents else { return }
        requestEvents.answered(response, in: self)
        if response.body.isAtHand { return }
        response.body = response.body.onEnd { _ in requestEvents.endBody(in: self) }
    }

    /// Records that the request on the wire ended without a response.
    func recordFailure(_ error: NetworkError) {
        requestEvents?.failed(error, in: self)
    }

    private struct Extras: Sendable {
        var facts = Facts()
        var pastOrigins: [Origin] = []
        var forwardedFields = ForwardedFields()
        var hopFields: [HTTPField.Name: String] = [:]
        var pastAttempts: [NetworkError.Attempt] = []
        var principalKey: PrincipalKey?
        var sharedDeadline: Locked<SystemTime.Deadline?>?
        var onInterim: (@Sendable (HTTPStatus, HTTPHeaders) -> Void)?
    }
}
