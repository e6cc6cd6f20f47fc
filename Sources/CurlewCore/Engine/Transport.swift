// SPDX-License-Identifier: MIT

/// Performs exchanges on the network for a client.
///
/// A transport sends exactly the request it receives, once, and returns the response. It follows no redirects, has no
/// cookies or cache, responds to no challenges and retries nothing that may have reached the server. Interceptors
/// implement these policies, so that all transports behave alike.
///
/// Guarantees of an implementation:
/// - It throws `NetworkError`, and returns a response for every status that arrived.
/// - It enforces `context.totalDeadline` and `context.timeouts`, also while the body arrives, and
///   `context.attemptDeadline` until the response head has arrived. The deadline of the attempt is suspended while the
///   request body is transferred.
/// - When the task is cancelled, it throws `.cancelled` immediately, in every phase, and frees the connection.
/// - It receives no more of a body than its reader takes, plus a bounded buffer.
/// - It delivers field lines unchanged and in order, with one exception: if it decodes the content codings of the body,
///   it removes `Content-Encoding` and `Content-Length`. It decodes none if `context.options.skipsContentDecoding` is
///   set.
public protocol Transport: Sendable {
    /// Performs one exchange and returns when the response head has arrived. The body may still be in transfer.
    ///
    /// The pipeline enforces `Limits.responseBody`, so the response body need not count its bytes. The bytes to send
    /// are `request.body.chunks()`.
    func send(_ request: HTTPRequest, in context: ExchangeContext) async throws -> HTTPResponse
    /// Returns the principal that the transport adds to `request`, such as that of a client certificate, of a Unix
    /// socket, or of an override of the host's address. Must not wait. The principal is part of the key of components
    /// that store or share responses (`Next.principal(of:)`).
    ///
    /// Default `.unknown`: the transport may attach anything, so nothing is stored or shared. A transport that sends
    /// requests unchanged to the named host returns `.anonymous`. A transport that wraps another one returns the
    /// principal of the wrapped transport.
    func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal
    /// Refuses new work, ends running exchanges or lets them finish, and returns when none is running. The default does
    /// nothing, for transports without resources.
    func shutdown(_ mode: TransportConfiguration.ShutdownMode) async
}

extension Transport {
    /// Does nothing.
    public func shutdown(_ mode: TransportConfiguration.ShutdownMode) async {}

    /// Shuts down with `.now`: ends all exchanges immediately.
    public func shutdown() async { await shutdown(.now) }

    /// Returns `.unknown`, because the transport may attach anything.
    public func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal { .unknown }

    /// The name of the transport in descriptions: its own description, or else the name of its type.
    var label: String {
        (self as? any CustomStringConvertible)?.description ?? String(describing: Self.self)
    }
}

/// A transport that calls a closure, for tests and adapters.
public struct ClosureTransport: Transport {
    private let handler: @Sendable (HTTPRequest, ExchangeContext) async throws -> HTTPResponse
    private let changesPrincipal: Bool

    /// Creates a transport that calls `handler`.
    ///
    /// - `changesPrincipal`: false if the closure attaches nothing that responses depend on, so that caches and
    ///   coalescing work. Default true.
    public init(
        changesPrincipal: Bool = true,
        _ handler: @escaping @Sendable (HTTPRequest, ExchangeContext) async throws -> HTTPResponse
    ) {
        self.changesPrincipal = changesPrincipal
        self.handler = handler
    }

    /// Returns `.unknown`, or `.anonymous` if `changesPrincipal` is false.
    public func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal {
        changesPrincipal ? .unknown : .anonymous
    }

    /// Calls the closure, and throws what it throws.
    public func send(_ request: HTTPRequest, in context: ExchangeContext) async throws -> HTTPResponse {
        try await handler(request, context)
    }
}

/// Keeps the request that reaches it, and ends the call.
struct PreviewTransport: Transport {
    /// The transport of the client, for the requests of an interceptor's own (`Next.transport`).
    let onward: any Transport
    let request = Locked<HTTPRequest?>(nil)

    func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal { .anonymous }

    func send(_ request: HTTPRequest, in context: ExchangeContext) async throws -> HTTPResponse {
        var request = request
        // Interceptors may have declared secrets after the request was built.
        request.secrets = context.secrets
        self.request.withLock { $0 = request }
        throw NetworkError(.refused(by: .preview))
    }
}
