// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl
import CurlewCore
import CurlewHTTP
import FoundationEssentials
import Synchronization

/// One exchange inside the transport.
///
///     new ──▶ waiting ──▶ active ──▶ over
///      └────────┴───────────┴─────────▲
///
/// Until it is active it has no event loop. Then a single event loop performs it to the end.
///
/// `@unchecked Sendable` is valid because access is divided as follows:
/// - `let` properties: any thread.
/// - `phase` and `queue`: under the lock of `RequestQueues`; the queue never changes once it is set.
/// - `continuation`: written by the calling task before it requests a slot, then used by the thread that removes the
///   transfer from its queue, or else by its event loop.
/// - all others: only the event loop's thread, including callbacks.
final class Transfer: @unchecked Sendable {
    enum Phase {
        case new
        case waiting(ticket: UInt64)
        /// The transfer has a slot at one of the loops of its queue.
        case active(place: Int)
        case over
    }

    /// The state of the name lookup.
    enum Lookup {
        case none
        /// libcurl was about to look up this name, and was made to end the transfer instead.
        case needed(String)
        case waiting(String, since: Int64)
        /// The lookup is complete; the duration is in nanoseconds. libcurl has the addresses, and looks up other names
        /// itself.
        case over(took: Int64)

        /// Returns the duration of the lookup so far.
        func time(at now: Int64) -> Int64 {
            switch self {
            case .none, .needed: 0
            case .waiting(_, let since): now - since
            case .over(let time): time
            }
        }
    }

    let request: HTTPRequest
    let context: ExchangeContext
    let upload: (any Upload)?
    /// The upload, if it waits for a 100 response.
    let expectation: ExpectingUpload?
    /// Keeps the transport, and with it the event loop, alive while a body is read.
    let owner: CurlTransport
    // Values that the event loop needs from request and context. The caller computes them, because one loop thread
    // serves all callers.
    let url: String
    let streams: Bool
    /// Whether the transport decodes the content codings of the response, if it supports all of them.
    let decodesContent: Bool
    /// Whether libcurl may send a request again by itself although the first may have arrived.
    let mayRepeat: Bool
    let bodyLimit: Int64
    /// Whether the transfer must use a new connection.
    let opensConnection: Bool

    var continuation: UnsafeContinuation<HTTPResponse, any Error>?
    var phase = Phase.new
    var queue: RequestQueue?
    private let cancellation = Atomic(false)
    /// The event loop that performs the transfer.
    var loop: EventLoop?
    /// The multi handle that contains the transfer while it is active.
    var multi: MultiHandle?
    var lookup = Lookup.none
    /// The connection of the transfer, if `MixedVersions` counts its transfers.
    var connection: ConnectionName?
    /// The socket on which libcurl waits for the transfer, if libcurl has reported it. It does not for every transfer
    /// that joins a connection.
    var socket: Int32?
    /// The known properties of the connection, once it is ready.
    var connectionInfo: ConnectionInfo?
    /// Whether observers were notified that libcurl tries an address, and that the connection is open.
    var hasTried = false
    var hasOpened = false
    /// The easy handle while the transfer is active.
    var easy: EasyHandle?
    var head: ResponseHead
    /// Whether the end of the final head has been processed.
    var hasHead = false
    /// The body until the response is delivered.
    var buffered = GatheredBody()
    /// The body if the response was delivered before its end.
    var pipe: BodyPipe?
    /// Whether the reader must receive the available bytes at the end of the turn.
    var isBodyDue = false
    /// Whether further bytes are discarded because the transfer is being ended.
    var isDiscarding = false
    /// Whether the caller has cancelled, and the rest is received to keep the connection.
    var isDraining = false
    /// Whether libcurl was paused because the reader is behind.
    var isReceivePaused = false
    /// Whether the reader receives more than its capacity; see `unpause`.
    var takesAll = false
    /// Whether the transport could not determine the socket on which reading is suspended.
    var holdsUnnamed = false
    /// Whether libcurl was paused because the producer is behind.
    var isSendPaused = false
    var isHeld: Bool { isReceivePaused || isSendPaused }
    /// How often libcurl has begun to send the request.
    var sendings = 0
    /// Whether the first attempt was on a connection that was opened for it. Set only for requests that must not be
    /// repeated.
    var beganOnNewConnection = false
    /// The bytes of the body that libcurl has taken since it last began.
    var bytesTaken: Int64 = 0
    /// The decoder, once bytes of a body with content codings have arrived.
    var decoder: ContentDecoder?
    /// With an upload: the time at which its request began, and how much later the response began, in nanoseconds.
    var requestTime: Int64?
    var answerTime: Int64?
    /// The latest address that the configuration does not allow, and the reason.
    var refusedAddress: String?
    /// The error of one of the transport's callbacks. libcurl reports only that a callback failed.
    var failure: NetworkError?
    var clock: ExchangeClock
    // A continuation that is resumed before its task has suspended orders the two threads in a way that ThreadSanitizer
    // cannot detect. This flag makes the order visible. It costs a plain store and a plain load on common processors.
    private let handedOver = Atomic(false)

    init(
        request: HTTPRequest, context: ExchangeContext, upload: (any Upload)?, opensConnection: Bool = false,
        owner: CurlTransport
    ) {
        self.request = request
        self.context = context
        self.upload = upload
        expectation = upload as? ExpectingUpload
        self.opensConnection = opensConnection
        self.owner = owner
        url = request.urlString
        let options = context.options
        streams = options.streaming == true
        decodesContent = options.rawBody != true
        mayRepeat = context.mayRepeat(request)
        let limits = context.limits
        bodyLimit = limits.responseBody
        head = ResponseHead(limits: limits, keepsInterim: context.isObserved)
        clock = ExchangeClock(context)
    }

    /// The number of bytes of the body, if the head declares it and decoding does not change it.
    var declaredLength: Int64? {
        if request.method == .head || head.status.forbidsContent { return 0 }
        return decodesContent && head.codings != nil ? nil : head.content.length
    }

    /// The maximum size of a body that is delivered with the response.
    var smallBody: Int {
        streams ? 0 : owner.configuration.gatheredBody
    }

    /// Whether the caller has cancelled. Set before the event loop is asked to end the transfer, which it may not have
    /// received yet.
    var isCancelled: Bool { cancellation.load(ordering: .acquiring) }

    func cancel() {
        cancellation.store(true, ordering: .releasing)
    }

    /// Fails a transfer that never began. Notifies its caller, and reports the time in the queue to observers.
    func refuse(_ error: NetworkError) {
        upload?.end()
        if queue != nil {
            var metrics = ExchangeMetrics()
            metrics.queue = clock.elapsed(at: ExchangeClock.now())
            metrics.total = metrics.queue
            context.record(.measured(metrics))
        }
        answer(.failure(error))
    }

    /// Completes the transfer and resumes its caller or its reader.
    func deliver(_ result: Result<Void, NetworkError>, metrics: ExchangeMetrics) {
        if let pipe {
            // Head and end may arrive in one turn. The caller receives the response first, so that an incomplete body
            // always fails where it is read.
            if case .failure(let error) = result, error.isCancelled, continuation != nil {
                answer(.failure(error))
            } else {
                handOverHead(metrics: metrics)
                pipe.finish(result, trailers: head.trailers)
            }
            // The pipe references the transfer as long as it is read.
            self.pipe = nil
            return
        }
        switch result {
        case .success:
            let body = ResponseBody(buffered.take(), limit: bodyLimit, trailers: head.trailers)
            answer(.success(response(body: body, metrics: metrics)))
        case .failure(let error): answer(.failure(error))
        }
    }

    /// Delivers a streaming response to the caller. Does nothing if the caller has it.
    func handOverHead(metrics: ExchangeMetrics) {
        guard let pipe, continuation != nil else { return }
        let body = ResponseBody(pipe, limit: bodyLimit, length: declaredLength)
        answer(.success(response(body: body, metrics: metrics)))
    }

    /// Delivers the outcome to the caller. Does nothing if the caller has one.
    private func answer(_ outcome: Result<HTTPResponse, NetworkError>) {
        guard let continuation else { return }
        self.continuation = nil
        noteHandOver()
        switch outcome {
        case .success(let response): continuation.resume(returning: response)
        case .failure(let error): continuation.resume(throwing: error)
        }
    }

    /// Must be called before a continuation is resumed on the event loop's thread, and `noteArrival` after its wait.
    func noteHandOver() {
        handedOver.store(true, ordering: .releasing)
    }

    func noteArrival() {
        _ = handedOver.load(ordering: .acquiring)
    }

    /// Whether the server has refused the request before it was complete. Such a request needs no more of its body, but
    /// libcurl does not end it while it waits for the producer.
    var isRefusedEarly: Bool { isSendPaused && hasHead && head.status.code >= 300 }

    /// Whether the caller has the response, and only few bytes must be received before the connection can be reused. An
    /// HTTP/2 connection can be used by other requests in any case.
    var mayDrain: Bool {
        guard pipe != nil, continuation == nil, upload == nil, hasHead, head.version != .http2, let easy,
            let length = head.content.length, head.headers[.connection]?.lowercased() != "close"
        else { return false }
        return length - curlew_info_offset(easy.pointer, CURLINFO_SIZE_DOWNLOAD_T) <= MultiHandle.drainLimit
    }

    /// Creates the response with `body` from what has been received so far.
    func response(body: ResponseBody, metrics: ExchangeMetrics) -> HTTPResponse {
        HTTPResponse(
            status: head.status, headers: head.deliveredHeaders(decoded: decodesContent, method: request.method),
            body: body, version: head.version, metrics: metrics, url: url, reasonPhrase: head.reasonPhrase)
    }
}
#endif
