// SPDX-License-Identifier: MIT

#if os(Linux)
public import CurlewCore
import CurlewHTTP
import CurlewFoundation

/// A transport that uses its own connections for plain HTTP/1.1, and libcurl for TLS, HTTP/2 and proxies. The default
/// on Linux.
///
/// The transport runs `Options.eventLoops` event loops. Each is a thread that starts when it is needed, and ends after
/// `TransportConfiguration.Pool.idleLifetime` without work.
///
/// The transport supports HTTP/1.1 and HTTP/2, TLS through the system's OpenSSL, and connection pooling. Calls do not
/// block threads: they wait as suspended tasks. The transport guarantees, in addition to the guarantees of `Transport`:
/// - Each exchange completes exactly once. Cancellation ends the exchange in every phase without waiting for the
///   network: during name lookup, while connecting, before the head, during the body, and while the reader pauses.
/// - Deadlines are accurate to a few milliseconds and need no timer or thread per call.
/// - If a reused connection is lost before the response, the transport sends the request again only if the request may
///   be repeated (`ExchangeContext.mayRepeat`) or none of it was sent, and if its body can be produced again. The third
///   try uses a new connection. Any other request is sent at most once and fails with `.connectionLost`.
/// - Bodies up to `TransportConfiguration.smallBody` are returned with the response. Larger bodies are streamed, and
///   the transport stops receiving while `TransportConfiguration.bodyBuffer` unread bytes are buffered.
///
/// Observers are notified of interim responses and trailers.
///
/// A transport belongs to the process that created it: in a forked child every call fails immediately with
/// `.configuration`, and the child must create its own transport. Other programs that the process starts do not inherit
/// its sockets.
///
/// The transport uses proxies from the environment only if `TransportConfiguration.proxy` is `.environment`. The event
/// loops end when the last reference to the transport and to the bodies that it streams is released.
public final class CurlTransport: Transport {
    /// The connection settings, as passed to the initializer.
    public let configuration: TransportConfiguration
    /// The numbers of event loops, as passed to the initializer.
    public let options: Options

    /// The value of the configuration, which each transfer reads several times: the computed value copies it whole.
    let gatheredBody: Int
    let loops: EventLoopGroup
    /// Why every call fails with `.configuration`; nil if the configuration is valid.
    private let problem: String?

    /// Creates a transport with its own threads and connection pool.
    ///
    /// The initializer never fails, opens no connection and starts no thread. With an invalid configuration, `send`
    /// throws `.configuration`.
    public init(configuration: TransportConfiguration = TransportConfiguration(), options: Options = Options()) {
        self.configuration = configuration
        gatheredBody = configuration.gatheredBody
        self.options = options
        let proxies = ProxyRules(configuration.proxy, environment: ProcessInfo.processInfo.environment)
        loops = EventLoopGroup(configuration: configuration, options: options, proxies: proxies)
        problem = configuration.problems.first ?? proxies.problems.first
    }

    deinit {
        loops.stop()
    }

    /// The transport that clients share by default, with the default configuration and options. It is created on first
    /// use and exists until the process ends.
    public static let shared = CurlTransport()

    /// Returns the principal that the configuration adds to a request: the client certificate, and the Unix socket or
    /// address override for the request's host. Returns `.anonymous` if none of them applies, and `.unknown` if the
    /// file of a certificate cannot be accessed.
    public func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal {
        configuration.principal(of: request, in: context)
    }

    /// Performs one exchange. Throws only `NetworkError`: among others `.configuration` for an invalid configuration,
    /// and `.invalidRequest` for a `HEAD` request with a body.
    public func send(_ request: HTTPRequest, in context: ExchangeContext) async throws -> HTTPResponse {
        try await exchange(request, in: context)
    }

    /// Performs one exchange. With `opensConnection`, the exchange uses a new connection even if an idle one exists.
    func exchange(
        _ request: HTTPRequest, in context: ExchangeContext, opensConnection: Bool = false
    ) async throws -> HTTPResponse {
        guard loops.isHere else { throw HomeProcess.error(request) }
        try request.validate()
        if let problem = problem ?? configuration.trailerProblem(of: request) {
            throw NetworkError(.configuration, detail: problem, request: NetworkError.RequestLine(request))
        }
        let upgrade = context.upgrade.map { UpgradeUpload($0.output) }
        let upload = try upgrade ?? makeUpload(for: request)
        if upload != nil, request.method == .head {
            // libcurl would send the body and then wait for content that a response to HEAD does not have.
            throw NetworkError(
                .invalidRequest, detail: "A HEAD request cannot carry a body.", hint: "Use GET or QUERY.",
                request: NetworkError.RequestLine(request))
        }
        let transfer = Transfer(
            request: request, context: context, upload: upload, opensConnection: opensConnection || upgrade != nil,
            isDirect: loops.isDirect(request), owner: self)
        defer { transfer.noteArrival() }
        do {
            let response = try await withTaskCancellationHandler {
                // The continuation is resumed exactly once: by the thread that removes the transfer from its queue, or
                // by the event loop when the transfer has ended.
                try await withUnsafeThrowingContinuation { continuation in
                    transfer.continuation = continuation
                    loops.start(transfer)
                }
            } onCancel: {
                loops.cancel(transfer)
            }
            await upload?.reportAll()
            return response
        } catch {
            await upload?.reportAll()
            throw error
        }
    }

    /// Refuses new exchanges, ends the running ones immediately or lets them finish, and closes all connections.
    ///
    /// Returns when all event loops have ended. Cancelling the caller does not shorten the wait. `shutdown` may be
    /// called again; the earliest deadline applies. The default mode is `.now`.
    public func shutdown(_ mode: TransportConfiguration.ShutdownMode = .now) async {
        let moment =
            switch mode {
            case .now: Int64(0)
            case .drain(let time): TimeoutTracker.moment(after: time)
            }
        await withUnsafeContinuation { continuation in
            loops.stop(by: moment) { continuation.resume() }
        }
    }

    /// The current numbers of exchanges and connections, summed over all event loops; all 0 in a forked child.
    public var snapshot: TransportConfiguration.Pool.Snapshot {
        loops.snapshot
    }
}

extension CurlTransport: CustomStringConvertible {
    /// The name and version of libcurl, and the known fault of this version if there is one.
    public var description: String {
        CurlLibrary.current.description
    }
}
#endif
