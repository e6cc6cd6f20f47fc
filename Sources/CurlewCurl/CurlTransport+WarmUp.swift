// SPDX-License-Identifier: MIT

#if os(Linux)
public import CurlewCore
import CurlewHTTP

extension CurlTransport {
    /// Opens connections in advance, so that the first calls need no name lookup, TCP connect or TLS handshake.
    ///
    /// Sends `HEAD` without credentials to `url` on each connection, because libcurl keeps only connections that have
    /// carried a request. The response and its status are ignored. An origin that supports HTTP/2 gets one connection,
    /// which all calls share. Any other origin gets `connections` new connections, at least one and at most the
    /// smallest of `perHost`, `idle` and `total` in `TransportConfiguration.Pool`. The first one is opened alone, the
    /// others concurrently. The pool keeps them within its `idle` and `idleLifetime`, unless the server closes them.
    ///
    /// Returns when each connection has carried its request, which `timeouts` limits. Throws the first `NetworkError`:
    /// `.invalidRequest` for an invalid URL, and otherwise as `send`. Cancellation ends the call immediately.
    public func warmUp(_ url: String, connections: Int = 1, timeouts: Timeouts = .standard) async throws {
        let request = try HTTPRequest(.head, url: url)
        let pool = configuration.pool
        let count = min(max(1, connections), pool.perHost, pool.idle, pool.total ?? .max)
        let first = try await open(request, timeouts)
        guard first != .http2, count > 1 else { return }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 1..<count { group.addTask { _ = try await self.open(request, timeouts) } }
            try await group.waitForAll()
        }
    }

    private func open(_ request: HTTPRequest, _ timeouts: Timeouts) async throws -> HTTPVersion {
        try await exchange(request, in: ExchangeContext(timeouts: timeouts), opensConnection: true).version
    }
}
#endif
