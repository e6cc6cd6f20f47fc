// SPDX-License-Identifier: MIT

#if os(Linux)
public import CurlewCore
import CurlewHTTP

extension CurlTransport {
    /// Opens connections ahead, so that the first calls find name lookup, TCP and TLS done.
    ///
    /// Sends `HEAD` without credentials to `url` over each, because a connection without a request is none that libcurl
    /// would keep; whatever the server answers is fine, and nothing is left of it. An origin that speaks HTTP/2 gets
    /// one connection, which all calls share. Any other gets `connections` new ones, at most `ConnectionPool.perHost`,
    /// `idle` and `total`, all but the first at the same time. They are kept as long as
    /// `ConnectionPool.idleLifetime` and the server allow; a server that closes after each answer leaves none.
    ///
    /// Returns when all are there. Throws `NetworkError` with the first failure; cancellation ends it at once.
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
