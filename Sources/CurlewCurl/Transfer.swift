// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl
import CurlewCore
import CurlewHTTP
import FoundationEssentials
import Synchronization

/// One exchange inside the engine.
///
/// `@unchecked Sendable` holds because of who touches what:
/// - `let` properties: everybody.
/// - `continuation`: written by the calling task before the transfer is handed over, and used after by whoever claims
///   it. Only the agent looks at it without.
/// - `isSubmitted`, `isCancelled`, `slot`, `watchedPipe`: under the command queue's lock.
/// - `ticket`, and `agent` while it waits: under the lock of its line. After that the agent is the same for ever.
/// - `line`: written by the agent that it came to, before it stands in line and after it has left it without a turn.
/// - everything else: the agent's thread only, callbacks included.
final class Transfer: @unchecked Sendable {
    let request: HTTPRequest
    let context: ExchangeContext
    let upload: (any Upload)?
    /// The upload, if it waits for the server's word.
    let expectation: ExpectingUpload?
    /// Who performs it. Another one than it came to may take it out of the line.
    var agent: CurlAgent
    /// Keeps the transport, and with it the agent, alive while a body is read.
    let owner: CurlTransport
    // What the agent needs of request and context, made by the caller: the agent is one thread for all of them.
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
    /// The number of the agent that took it from another one, for those who cancel it while that one is gone; or -1.
    let taker = Atomic(-1)
    var isSubmitted = false
    var isCancelled = false
    /// Its place among those in flight, and its body while somebody may wait for it.
    var slot: Int?
    var watchedPipe: BodyPipe?

    /// Where it has a place.
    var place: OriginLine?
    /// Where it waits for one, or has waited.
    var line: SharedLine?
    var ticket: UInt64?
    /// The connection that it is on, where `CurlAgent.occupants` keeps count.
    var connection: ConnectionName?
    /// Where libcurl waits for it, as far as it has told: not for each that joins others on a connection.
    var socket: Int32?
    /// What is known of its connection, once that is ready.
    var connectionInfo: ConnectionInfo?
    /// Observers have heard that libcurl tries an address, and that the connection is open.
    var hasTried = false
    var hasOpened = false
    /// The handle while the transfer is in the agent's table.
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
    /// libcurl was told to stop receiving because the reader is behind.
    var isReceivePaused = false
    /// The engine could not tell on which socket it does not receive now.
    var holdsUnnamed = false
    /// libcurl was told to stop sending because the producer is behind.
    var isSendPaused = false
    var isHeld: Bool { isReceivePaused || isSendPaused }
    /// How often libcurl has begun to send the request.
    var sendings = 0
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
    /// The continuation is resumed by whoever sets this: the agent, or the watchdog in its place.
    private let isClaimed = Atomic(false)

    init(
        request: HTTPRequest, context: ExchangeContext, upload: (any Upload)?, opensConnection: Bool = false,
        agent: CurlAgent, owner: CurlTransport
    ) {
        self.request = request
        self.context = context
        self.upload = upload
        expectation = upload as? ExpectingUpload
        self.opensConnection = opensConnection
        self.agent = agent
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

    /// For the agent's table, which keeps the transfer alive: unique among those that live.
    var id: UInt64 { UInt64(UInt(bitPattern: ObjectIdentifier(self))) }

    /// The outcome is there, or is being given.
    var hasOutcome: Bool { isClaimed.load(ordering: .acquiring) }

    /// True until the caller has its outcome.
    var isAwaited: Bool { continuation != nil }

    /// Gives the caller its outcome; nothing happens if it has one.
    func deliver(_ outcome: Result<HTTPResponse, NetworkError>) {
        guard let continuation, claim() else { return }
        self.continuation = nil
        noteHandOver()
        switch outcome {
        case .success(let response): continuation.resume(returning: response)
        case .failure(let error): continuation.resume(throwing: error)
        }
    }

    /// Ends what waits for a transfer whose agent stands still. On the watchdog's thread.
    func abandon(_ error: NetworkError, pipe: BodyPipe?) {
        if claim(), let continuation {
            noteHandOver()
            continuation.resume(throwing: error)
        }
        pipe?.finish(.failure(error))
        upload?.end()
    }

    /// True for one who asks, who may then resume the continuation.
    private func claim() -> Bool {
        !isClaimed.exchange(true, ordering: .acquiringAndReleasing)
    }

    /// To be called before a continuation is resumed on the agent's thread, with `noteArrival` behind its wait.
    func noteHandOver() {
        handedOver.store(true, ordering: .releasing)
    }

    func noteArrival() {
        _ = handedOver.load(ordering: .acquiring)
    }

    /// The server has refused the request before it was complete. Such a request needs no more of its body, but libcurl
    /// does not end it while it waits for the producer.
    var isRefusedEarly: Bool { isSendPaused && hasHead && head.status.code >= 300 }

    /// The response with `body`, from what has come so far.
    func response(body: ResponseBody, metrics: ExchangeMetrics) -> HTTPResponse {
        HTTPResponse(
            status: head.status, headers: head.deliveredHeaders(decoded: decodesContent, method: request.method),
            body: body, version: head.version, metrics: metrics, url: url, reasonPhrase: head.reasonPhrase)
    }
}
#endif
