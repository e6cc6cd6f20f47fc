// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl
import CurlewCore
import CurlewHTTP
import CurlewFoundation
import Synchronization

/// One exchange inside the transport.
///
///     new ──▶ waiting ──▶ active ──▶ over
///      └────────┴───────────┴─────────▲
///
/// A transfer has no event loop until it is active. Then a single event loop performs it to the end.
///
/// `@unchecked Sendable` is valid because access is divided as follows:
/// - `let` properties: any thread.
/// - `phase` and `queue`: under the lock of `RequestQueues`; the queue never changes once it is set.
/// - `continuation`: written by the calling task before it requests a slot, then used by the thread that removes the
///   transfer from its queue, or else by its event loop.
/// - all other properties: only the event loop's thread, including libcurl's callbacks.
final class Transfer: @unchecked Sendable {
    enum Phase {
        case new
        case waiting(ticket: UInt64)
        /// The transfer has a slot at the event loop with the index `index` in its queue.
        case active(index: Int)
        case over
    }

    let plan: TransferPlan
    @exclusivity(unchecked) var continuation: UnsafeContinuation<HTTPResponse, any Error>?
    @exclusivity(unchecked) var phase = Phase.new
    @exclusivity(unchecked) var queue: RequestQueue?
    private let cancellation = Atomic(false)
    /// The event loop that performs the transfer.
    @exclusivity(unchecked) var loop: EventLoop?
    /// What performs the transfer while it is active.
    @exclusivity(unchecked) var carrier: (any Carrier)?
    @exclusivity(unchecked) var state = TransferState.outside(.open(paused: []))
    @exclusivity(unchecked) var connection = UsedConnection()
    /// The state of a transfer on one of the transport's own connections.
    @exclusivity(unchecked) var direct = DirectExchange()
    @exclusivity(unchecked) var sent = SentRequest()
    @exclusivity(unchecked) var received: ReceivedResponse
    @exclusivity(unchecked) var clock: TimeoutTracker
    // A continuation that is resumed before its task has suspended orders the two threads in a way that ThreadSanitizer
    // cannot detect. This flag makes the order visible. It costs a plain store and a plain load on common processors.
    private let handedOver = Atomic(false)

    init(
        request: HTTPRequest, context: ExchangeContext, upload: (any Upload)?, opensConnection: Bool = false,
        isDirect: Bool = false, owner: CurlTransport
    ) {
        received = ReceivedResponse(head: ResponseHead(limits: context.limits, keepsInterim: context.isObserved))
        clock = TimeoutTracker(context)
        plan = TransferPlan(
            request: request, context: context, upload: upload, opensConnection: opensConnection,
            isDirect: isDirect, owner: owner)
    }

    /// The easy handle and the multi handle, if libcurl performs the transfer.
    var easy: EasyHandle? { state.easy }
    var multi: MultiHandle? { easy?.store.owner }

    var isReceivingPaused: Bool { state.paused.contains(.receiving) }
    var isSendingPaused: Bool { state.paused.contains(.sending) }
    /// Whether the transfer is paused in a direction.
    var isHeld: Bool { !state.paused.isEmpty }

    /// Returns the duration of the name lookup until `now`, in nanoseconds.
    func lookupTime(at now: Int64) -> Int64 {
        if case .curl(_, .resolving(_, let since)) = state { return now - since }
        return connection.lookupTime ?? 0
    }

    /// The number of bytes of the body, if the head declares it and decoding does not change it.
    var declaredLength: Int64? {
        if plan.request.method == .head || received.head.status.forbidsContent { return 0 }
        return plan.decodesContent && received.head.codings != nil ? nil : received.head.content.length
    }

    /// The maximum size in bytes of a body that is delivered with the response; 0 if the call streams.
    var smallBody: Int {
        plan.streams ? 0 : plan.owner.gatheredBody
    }

    /// Whether the caller has cancelled. Set before the event loop is notified, so that a transfer that the event loop
    /// has not received yet does not begin.
    var isCancelled: Bool { cancellation.load(ordering: .sequentiallyConsistent) }

    func cancel() {
        cancellation.store(true, ordering: .sequentiallyConsistent)
    }

    /// Fails a transfer that never began. Throws `error` to the caller, and reports the time in the queue to observers.
    func refuse(_ error: NetworkError) {
        plan.upload?.end()
        if queue != nil {
            var metrics = ExchangeMetrics()
            metrics.queue = clock.elapsed(at: TimeoutTracker.now())
            metrics.total = metrics.queue
            plan.context.record(metrics)
        }
        takeContinuation()?.resume(throwing: error)
    }

    /// Completes the transfer and resumes its caller or its reader.
    func deliver(_ result: Result<Void, NetworkError>, metrics: ExchangeMetrics) {
        if let pipe = received.pipe {
            // The head and the end may arrive in one turn. The caller receives the response first, so that an
            // incomplete body always fails where it is read.
            if case .failure(let error) = result, error.isCancelled, let continuation = takeContinuation() {
                continuation.resume(throwing: error)
            } else {
                handOverHead(metrics: metrics)
                pipe.finish(result, trailers: received.head.trailers)
            }
            // The pipe references the transfer as long as it is read.
            received.pipe = nil
            return
        }
        switch result {
        case .success:
            let body = ResponseBody(received.gathered.take(), limit: plan.bodyLimit, trailers: received.head.trailers)
            takeContinuation()?.resume(returning: response(body: body, metrics: metrics))
        case .failure(let error): takeContinuation()?.resume(throwing: error)
        }
    }

    /// Delivers a streaming response to the caller. Does nothing if the caller already has it.
    func handOverHead(metrics: ExchangeMetrics) {
        guard let pipe = received.pipe, continuation != nil else { return }
        let body = ResponseBody(pipe, limit: plan.bodyLimit, length: declaredLength)
        takeContinuation()?.resume(returning: response(body: body, metrics: metrics))
    }

    /// Takes the continuation, which must be resumed next. Returns nil if the caller already has a result.
    private func takeContinuation() -> UnsafeContinuation<HTTPResponse, any Error>? {
        guard let continuation else { return nil }
        self.continuation = nil
        noteHandOver()
        return continuation
    }

    /// Records that a continuation is about to be resumed; see `handedOver`. Must be called before a continuation of
    /// this transfer is resumed. The resumed task must then call `noteArrival`.
    func noteHandOver() {
        handedOver.store(true, ordering: .releasing)
    }

    func noteArrival() {
        _ = handedOver.load(ordering: .acquiring)
    }

    /// Whether the server has responded with a status of 300 or more, or has not switched protocols, while the upload
    /// is paused. The request needs no more of its body, but libcurl does not end it while it waits for the producer.
    var isRefusedEarly: Bool {
        guard isSendingPaused, received.hasHead else { return false }
        let status = received.head.status
        return status.code >= 300 || (plan.upgrade != nil && status != 101)
    }

    /// Whether it is worth receiving the rest of the body after a cancellation: the caller has the response, and the
    /// connection can be reused after at most `drainLimit` more bytes. False for HTTP/2, because other
    /// requests can use the connection in any case.
    var mayDrain: Bool {
        guard received.pipe != nil, continuation == nil, plan.upload == nil, received.hasHead,
            received.head.version != .http2,
            let length = received.head.content.length, received.head.headers[.connection]?.lowercased() != "close"
        else { return false }
        let received = easy.map { curlew_info_offset($0.pointer, CURLINFO_SIZE_DOWNLOAD_T) } ?? direct.contentBytes
        return length - received <= Self.drainLimit
    }

    /// The maximum number of bytes that are received and discarded after a cancellation, and the maximum time in
    /// nanoseconds.
    static let (drainLimit, drainTime) = (Int64(64 << 10), Int64(1_000_000_000))

    /// Returns the response with the received head and `body`.
    func response(body: ResponseBody, metrics: ExchangeMetrics) -> HTTPResponse {
        var response = HTTPResponse(
            status: received.head.status,
            headers: received.head.deliveredHeaders(decoded: plan.decodesContent, method: plan.request.method),
            body: body, version: received.head.version, metrics: metrics, url: plan.url,
            reasonPhrase: received.head.reasonPhrase)
        if plan.upgrade != nil { response.arrivalExecutor = loop?.executor }
        return response
    }
}
#endif
