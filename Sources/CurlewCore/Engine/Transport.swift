// SPDX-License-Identifier: MIT

/// Bytes out, bytes in: the engine under a client.
///
/// A transport sends exactly the message it is given, once, and hands back what came. It follows no redirect, keeps no
/// cookie or cache, answers no challenge and retries nothing that may have reached the server: all of that is policy
/// and lives in interceptors, so that every engine behaves alike.
///
/// What an implementation guarantees:
/// - It throws `NetworkError`, and returns for every status that arrived.
/// - It keeps `context.deadline` and `context.timeouts`, over the body too.
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
}

/// A transport made of a closure, for tests and adapters.
public struct ClosureTransport: Transport {
    private let handler: @Sendable (HTTPRequest, ExchangeContext) async throws -> HTTPResponse

    /// A transport that asks `handler`.
    public init(_ handler: @escaping @Sendable (HTTPRequest, ExchangeContext) async throws -> HTTPResponse) {
        self.handler = handler
    }

    /// Asks the closure.
    public func send(_ request: HTTPRequest, in context: ExchangeContext) async throws -> HTTPResponse {
        try await handler(request, context)
    }
}
