// SPDX-License-Identifier: MIT

#if os(Linux)
public import CurlewCore
import CurlewHTTP
import FoundationEssentials

/// The engine on Linux: libcurl, driven by `TransportConfiguration.eventLoops` threads of its own. Each starts when it is
/// needed, and ends after `ConnectionPool.idleLifetime` without work.
///
/// HTTP/1.1 and HTTP/2, TLS through the system's OpenSSL, connections pooled and reused. Calls do not block threads:
/// they wait as suspended tasks. What it adds to the guarantees of `Transport`:
/// - Each call completes exactly once. Cancellation ends it in every phase without waiting for the network: during name
///   lookup, connecting, before the head, in the middle of a body, and while the reader pauses.
/// - Deadlines are accurate to a few milliseconds and do not hold timers or threads.
/// - libcurl itself repeats a request whose reused connection dies before the reply. Here it may do so only for
///   requests that can be repeated (`ExchangeContext.mayRepeat`); any other is sent at most
///   once and ends in `.connectionLost(.requestMayHaveArrived)`.
/// - Bodies up to `TransportConfiguration.smallBody` come with the response; larger ones stream, and the transfer
///   stops while `TransportConfiguration.bodyBuffer` bytes wait for their reader.
///
/// Observers hear of interim answers and trailers.
///
/// An engine belongs to the process that made it: in a forked child every use ends with `.configuration` at once, and
/// a child needs an engine of its own. Started programs inherit none of its sockets.
///
/// Proxies in the environment are used only if `TransportConfiguration.proxy` says so. The engine ends with the last
/// reference to it and to the bodies it feeds.
public final class CurlTransport: Transport {
    /// How it connects.
    public let configuration: TransportConfiguration

    private let loops: EventLoopGroup
    /// Why no call can work.
    private let problem: String?

    /// An engine with its own thread and connection pool.
    ///
    /// Never fails and opens nothing: the thread starts with the first request, and a configuration that cannot work
    /// makes `send` throw `.configuration`.
    public init(configuration: TransportConfiguration = TransportConfiguration()) {
        self.configuration = configuration
        let proxies = ProxyRules(configuration.proxy, environment: ProcessInfo.processInfo.environment)
        loops = EventLoopGroup(configuration: configuration, proxies: proxies)
        problem = configuration.problems.first ?? proxies.problems.first
    }

    deinit {
        loops.stop()
    }

    /// The engine that clients share when they name none. It is made at its first use and lives as long as the process.
    public static let shared = CurlTransport()

    /// The client certificate, the Unix socket and the address that the configuration names for the request's host;
    /// `.anonymous` without.
    public func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal {
        configuration.principal(of: request, in: context)
    }

    /// Performs one exchange. Throws `NetworkError` only.
    public func send(_ request: HTTPRequest, in context: ExchangeContext) async throws -> HTTPResponse {
        try await exchange(request, in: context)
    }

    /// With `opensConnection`, over a new connection, whatever there is.
    func exchange(
        _ request: HTTPRequest, in context: ExchangeContext, opensConnection: Bool = false
    ) async throws -> HTTPResponse {
        guard loops.isHere else { throw HomeProcess.error(request) }
        try request.validate()
        if let problem { throw NetworkError(.configuration, detail: problem, request: RequestLine(request)) }
        if let problem = configuration.trailerProblem(of: request) {
            throw NetworkError(.configuration, detail: problem, request: RequestLine(request))
        }
        let upload = try makeUpload(for: request)
        if upload != nil, request.method == .head {
            // libcurl would send it, and then wait for content that a HEAD does not get.
            throw NetworkError(
                .invalidRequest, detail: "A HEAD request cannot carry a body.", hint: "Use GET or QUERY.",
                request: RequestLine(request))
        }
        let transfer = Transfer(
            request: request, context: context, upload: upload, opensConnection: opensConnection, owner: self)
        defer { transfer.noteArrival() }
        return try await withTaskCancellationHandler {
            // Unsafe in name only: it is resumed exactly once, by the thread that takes the transfer out of its queue, or
            // by the event loop when that is done with it.
            try await withUnsafeThrowingContinuation { continuation in
                transfer.continuation = continuation
                loops.start(transfer)
            }
        } onCancel: {
            loops.cancel(transfer)
        }
    }

    /// Refuses new work from now on, ends what runs at once or lets it finish, and closes all connections.
    ///
    /// Returns when the engine's thread has ended; cancelling the caller does not shorten that. Calling it again is
    /// harmless, and the earliest of several deadlines counts. Without a mode it is `.now`.
    public func shutdown(_ mode: ShutdownMode = .now) async {
        let moment =
            switch mode {
            case .now: Int64(0)
            case .drain(let time): ExchangeClock.moment(after: time)
            }
        await withUnsafeContinuation { continuation in
            loops.stop(by: moment) { continuation.resume() }
        }
    }

    /// What the engine is busy with.
    public var snapshot: TransportSnapshot {
        loops.snapshot
    }
}

extension CurlTransport: CustomStringConvertible {
    /// The library and its version, and what is wrong with that one, if anything is known.
    public var description: String {
        CurlLibrary.current.description
    }
}
#endif
