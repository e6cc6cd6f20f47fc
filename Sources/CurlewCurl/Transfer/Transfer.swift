// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl
import CurlewCore
import CurlewHTTP
import FoundationEssentials
import Synchronization

/// One exchange inside the engine.
///
///     new ──▶ waiting ──▶ active ──▶ over
///      └────────┴───────────┴─────────▲
///
/// Until it is active it has no event loop; then one, which performs it to the end.
///
/// `@unchecked Sendable` holds because of who touches what:
/// - `let` properties: everybody.
/// - `phase` and `queue`: under the lock of `RequestQueues`; the queue never changes once there is one.
/// - `continuation`: written by the calling task before it asks for a slot, then used by the thread that takes the
///   transfer out of its queue, or else by its event loop.
/// - everything else: the event loop's thread only, callbacks included.
final class Transfer: @unchecked Sendable {
    enum Phase {
        case new
        case waiting(ticket: UInt64)
        /// At one of the loops of its queue.
        case active(place: Int)
        case over
    }

    /// What it has to do with the lookup of a name.
    enum Lookup {
        case none
        /// libcurl wanted to ask for this one, and was told to end instead.
        case needed(String)
        case waiting(String, since: Int64)
        /// What it took, in nanoseconds. libcurl has been given the addresses, and asks itself if it needs others.
        case over(took: Int64)

        /// How long it took so far.
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
    /// The upload, if it waits for the server's word.
    let expectation: ExpectingUpload?
    /// Keeps the transport, and with it the event loop, alive while a body is read.
    let owner: CurlTransport
    // What the event loop needs of request and context, made by the caller: the loop is one thread for all of them.
    let url: String
    let streams: Bool
    /// True when the engine removes the content codings of the response, if it knows all of them.
    let decodesContent: Bool
    /// True when libcurl may send a request again by itself although the first one may have arrived.
    let mayRepeat: Bool
    let bodyLimit: Int64
    /// It takes no connection that is there already.
    let opensConnection: Bool

    var continuation: UnsafeContinuation<HTTPResponse, any Error>?
    var phase = Phase.new
    var queue: RequestQueue?
    private let cancellation = Atomic(false)
    /// The event loop that performs it.
    var loop: EventLoop?
    /// The handle that it is part of while it is active.
    var multi: MultiHandle?
    var lookup = Lookup.none
    /// The connection that it is on, where `MixedVersions` keeps count.
    var connection: ConnectionName?
    /// Where libcurl waits for it, as far as it has told: not for each that joins others on a connection.
    var socket: Int32?
    /// What is known of its connection, once that is ready.
    var connectionInfo: ConnectionInfo?
    /// Observers have heard that libcurl tries an address, and that the connection is open.
    var hasTried = false
    var hasOpened = false
    /// The handle while the transfer is active.
    var easy: EasyHandle?
    var head: ResponseHead
    /// The end of the (final) head has been noticed.
    var hasHead = false
    /// The body until the response is handed over.
    var buffered = GatheredBody()
    /// The body once the response has been handed over before its end.
    var pipe: BodyPipe?
    /// Its reader is to be given what has come, at the end of the turn.
    var isBodyDue = false
    /// Swallow what still comes: the transfer is being taken down.
    var isDiscarding = false
    /// The caller wants no more of it, and the rest is received for the sake of the connection.
    var isDraining = false
    /// libcurl was told to stop receiving because the reader is behind.
    var isReceivePaused = false
    /// The reader gets more than it has room for; see `unpause`.
    var takesAll = false
    /// The engine could not tell on which socket it does not receive now.
    var holdsUnnamed = false
    /// libcurl was told to stop sending because the producer is behind.
    var isSendPaused = false
    var isHeld: Bool { isReceivePaused || isSendPaused }
    /// How often libcurl has begun to send the request.
    var sendings = 0
    /// The first of them was on a connection that was opened for it. Known of requests that must not be sent twice.
    var beganOnNewConnection = false
    /// Bytes of the body that libcurl has taken, since it last began.
    var bytesTaken: Int64 = 0
    /// Once bytes of a body with content codings have come.
    var decoder: ContentDecoder?
    /// With an upload: when its request began, and how long after that the answer began, in nanoseconds.
    var requestTime: Int64?
    var answerTime: Int64?
    /// The latest address that the configuration does not allow, and why.
    var refusedAddress: String?
    /// What went wrong in one of our callbacks; libcurl then only says that a callback failed.
    var failure: NetworkError?
    var clock: ExchangeClock
    // A continuation that is resumed before its task has suspended orders the two threads in a way that ThreadSanitizer
    // cannot see. This flag shows it; it costs a plain store and a plain load on the usual processors.
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

    /// The number of bytes of the body, if the head tells and nothing changes it.
    var declaredLength: Int64? {
        if request.method == .head || head.status.forbidsContent { return 0 }
        return decodesContent && head.codings != nil ? nil : head.content.length
    }

    /// A body that is handed over finished may have this many bytes.
    var smallBody: Int {
        streams ? 0 : owner.configuration.gatheredBody
    }

    /// Its caller wants no outcome any more. Said before the event loop is asked to end it, which may not have it yet.
    var isCancelled: Bool { cancellation.load(ordering: .acquiring) }

    func cancel() {
        cancellation.store(true, ordering: .releasing)
    }

    /// It never began: tells its caller, and observers how long it waited.
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

    /// It is over: tells its caller or its reader.
    func deliver(_ result: Result<Void, NetworkError>, metrics: ExchangeMetrics) {
        if let pipe {
            // Head and end may come in one turn: the caller gets the response first, so that a body that breaks off
            // always fails where it is read.
            if case .failure(let error) = result, error.isCancelled, continuation != nil {
                answer(.failure(error))
            } else {
                handOverHead(metrics: metrics)
                pipe.finish(result, trailers: head.trailers)
            }
            // The pipe refers to the transfer for as long as it is read.
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

    /// The caller gets the response while its body is still to come; nothing happens if it has it.
    func handOverHead(metrics: ExchangeMetrics) {
        guard let pipe, continuation != nil else { return }
        let body = ResponseBody(pipe, limit: bodyLimit, length: declaredLength)
        answer(.success(response(body: body, metrics: metrics)))
    }

    /// Gives the caller its outcome; nothing happens if it has one.
    private func answer(_ outcome: Result<HTTPResponse, NetworkError>) {
        guard let continuation else { return }
        self.continuation = nil
        noteHandOver()
        switch outcome {
        case .success(let response): continuation.resume(returning: response)
        case .failure(let error): continuation.resume(throwing: error)
        }
    }

    /// To be called before a continuation is resumed on the event loop's thread, with `noteArrival` behind its wait.
    func noteHandOver() {
        handedOver.store(true, ordering: .releasing)
    }

    func noteArrival() {
        _ = handedOver.load(ordering: .acquiring)
    }

    /// The server has refused the request before it was complete. Such a request needs no more of its body, but libcurl
    /// does not end it while it waits for the producer.
    var isRefusedEarly: Bool { isSendPaused && hasHead && head.status.code >= 300 }

    /// The caller has the response, and little is to come before the connection can serve another request. Over HTTP/2 it
    /// serves others anyway.
    var mayDrain: Bool {
        guard pipe != nil, continuation == nil, upload == nil, hasHead, head.version != .http2, let easy,
            let length = head.content.length, head.headers[.connection]?.lowercased() != "close"
        else { return false }
        return length - curlew_info_offset(easy.pointer, CURLINFO_SIZE_DOWNLOAD_T) <= MultiHandle.drainLimit
    }

    /// The response with `body`, from what has come so far.
    func response(body: ResponseBody, metrics: ExchangeMetrics) -> HTTPResponse {
        HTTPResponse(
            status: head.status, headers: head.deliveredHeaders(decoded: decodesContent, method: request.method),
            body: body, version: head.version, metrics: metrics, url: url, reasonPhrase: head.reasonPhrase)
    }
}
#endif
