// SPDX-License-Identifier: MIT

import CurlewFoundation
package import CurlewHTTP

extension ResponseBody {
    /// The state that the copies of a body share: its content, and whether reading has begun.
    final class Storage: Sendable {
        enum Content: Sendable {
            case buffered(Data)
            case source(any ResponseBodySource)
            /// The chunks of a sequence. `of` is the body that the sequence reads; nil if it reads none.
            case sequence(@Sendable () -> ChunkPull, of: ResponseBody?, cancel: @Sendable () -> Void)
            /// Another body, and the callback for the end of reading it.
            case watched(ResponseBody, OnceCallback)
            case value(any Sendable)
        }

        let content: Content
        let limit: Int64
        let length: Int64?
        /// The trailers of buffered bytes. Other content provides its trailers itself.
        private let ownTrailers: HTTPHeaders
        private let progress = LockedField((isClaimed: false, isCancelled: false))

        init(_ content: Content, limit: Int64, length: Int64?, trailers: HTTPHeaders = [:]) {
            self.content = content
            ownTrailers = trailers
            self.limit = limit
            self.length = length
        }

        deinit {
            // A wrapped sequence ends by itself when its last copy is released, and may have other readers.
            if case .source(let source) = content { source.cancel() }
        }

        var trailers: HTTPHeaders {
            switch content {
            case .buffered, .value: ownTrailers
            case .source(let source): source.trailers
            case .sequence(_, let body, _): body?.trailers ?? [:]
            case .watched(let body, _): body.trailers
            }
        }

        func claim() throws {
            let wasClaimed = progress.withLock { progress in
                defer { progress.isClaimed = true }
                return progress.isClaimed
            }
            if wasClaimed {
                throw NetworkError(
                    .invalidRequest, detail: "The response body has already been read.",
                    hint: "A body can be read once. Keep the data that collect() returned.")
            }
        }

        func open() throws -> ChunkPull {
            try claim()
            switch content {
            case .buffered(let data):
                var remainder: Data? = data.isEmpty ? nil : data
                return {
                    defer { remainder = nil }
                    return remainder
                }
            case .source(let source):
                return { try await source.next() }
            case .sequence(let make, _, _): return untilCancelled(make())
            case .watched(let body, let ending): return untilCancelled(ending.watching(CurlewCore.pull(from: body)))
            case .value:
                throw NetworkError(
                    .refused(by: .mock), detail: "The response is a value that was never encoded, so it has no bytes.",
                    hint: "Make the value Encodable, or let the stub return JSON text.")
            }
        }

        private func untilCancelled(_ next: @escaping ChunkPull) -> ChunkPull {
            { [self] in
                guard !progress.withLock({ $0.isCancelled }) else {
                    throw NetworkError(.cancelled, detail: "The body was dropped before it was read.")
                }
                return try await next()
            }
        }

        func cancel() {
            switch content {
            case .buffered, .value: break
            case .source(let source): source.cancel()
            case .sequence(_, _, let cancel):
                progress.withLock { $0.isCancelled = true }
                cancel()
            case .watched(let body, let ending):
                progress.withLock { $0.isCancelled = true }
                body.cancel()
                ending.run(.dropped)
            }
        }

        static func overLimit(_ limit: Int64) -> NetworkError {
            NetworkError(
                .limitExceeded(.responseBody), detail: "The response body is longer than \(limit) bytes.",
                hint: "Raise options.limits.responseBody for this call, or write it to a file with client.download, "
                    + "up to options.limits.download.")
        }
    }
}

extension HTTPStatus {
    /// Whether this is the status of a redirect or a challenge: only the response head matters, and the body may be
    /// incomplete. Transports return such a response without waiting for its body, so a body that stalls or breaks off
    /// does not delay the call.
    package var isPrelude: Bool {
        switch code {
        case 301, 302, 303, 307, 308, 401, 407: true
        default: false
        }
    }
}
