// SPDX-License-Identifier: MIT

/// Bytes out, bytes in: the engine under a client.
///
/// A transport sends exactly the message it is given, once, and hands back what came. It follows no redirect, keeps no
/// cookie or cache, answers no challenge and retries nothing that may have reached the server: all of that is policy
/// and lives in interceptors, so that every engine behaves alike.
///
/// What an implementation guarantees:
/// - It throws `NetworkError`, and returns for every status that arrived.
/// - It keeps `context.totalDeadline` and `context.timeouts`, over the body too, and `context.attemptDeadline` until the head
///   of the response is there. While the body of the request moves, the deadline of the attempt stands still.
/// - When the task is cancelled it throws `.cancelled` at once, in every phase, and frees the connection.
/// - It reads no more of a body than its reader takes, within a bounded buffer.
/// - It delivers field lines in order and as they came, and the body with content codings undone unless
///   `context.options.rawBody` is set; what it decoded it drops from `Content-Encoding` and `Content-Length`.
public protocol Transport: Sendable {
    /// Performs one exchange, and returns when the head of the answer is there; the body may still be on its way.
    ///
    /// `Limits.responseBody` is kept above: a body need not count its bytes. The bytes to send are
    /// `request.body.chunks()`.
    func send(_ request: HTTPRequest, in context: ExchangeContext) async throws -> HTTPResponse
    /// As whom it would send `request`, and to whom instead of its host, told without waiting: a client certificate, a
    /// Unix socket, an address that replaces the one of the name. A part of the key of whatever keeps or shares answers
    /// (`Next.principal(of:)`).
    ///
    /// Default `.unknown`: it may attach anything, so nothing is kept or shared. A transport that sends just what it
    /// is given, to the host that is named, returns `.anonymous`; one that wraps another asks that one.
    func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal
    /// Refuses new work from now on, ends what runs or lets it finish, and returns when nothing runs any more. Default: does
    /// nothing, for transports that hold nothing.
    func shutdown(_ mode: ShutdownMode) async
}

extension Transport {
    /// Nothing.
    public func shutdown(_ mode: ShutdownMode) async {}

    /// Ends everything now.
    public func shutdown() async { await shutdown(.now) }

    /// `.unknown`: it may attach anything.
    public func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal { .unknown }

    /// How it appears in descriptions.
    package var label: String {
        (self as? any CustomStringConvertible)?.description ?? String(describing: Self.self)
    }
}

/// A transport made of a closure, for tests and adapters.
public struct ClosureTransport: Transport {
    private let handler: @Sendable (HTTPRequest, ExchangeContext) async throws -> HTTPResponse
    private let changesWhoseAnswer: Bool

    /// A transport that asks `handler`.
    ///
    /// - `changesWhoseAnswer`: false if the closure attaches nothing on which answers depend, so that caches and
    ///   coalescing work over it. Default true.
    public init(
        changesWhoseAnswer: Bool = true,
        _ handler: @escaping @Sendable (HTTPRequest, ExchangeContext) async throws -> HTTPResponse
    ) {
        self.changesWhoseAnswer = changesWhoseAnswer
        self.handler = handler
    }

    /// `.unknown`, unless it was said that the closure attaches nothing.
    public func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal {
        changesWhoseAnswer ? .unknown : .anonymous
    }

    /// Asks the closure.
    public func send(_ request: HTTPRequest, in context: ExchangeContext) async throws -> HTTPResponse {
        try await handler(request, context)
    }
}
