// SPDX-License-Identifier: MIT

/// How reading a body ended.
package enum ResponseBodyEnd: Sendable {
    case complete
    case failed(any Error)
    /// The body was cancelled, or its last copy was released.
    case dropped
}

/// A callback that runs once: when `run` is called, or when the last reference is released.
final class OnceCallback: Sendable {
    private let end: Locked<(@Sendable (ResponseBodyEnd) -> Void)?>

    init(_ end: @escaping @Sendable (ResponseBodyEnd) -> Void) {
        self.end = Locked(end)
    }

    func run(_ how: ResponseBodyEnd) {
        let end = end.withLock { end in
            defer { end = nil }
            return end
        }
        end?(how)
    }

    /// Returns the same chunks and reports their end.
    func watching(_ next: @escaping ChunkPull) -> ChunkPull {
        { [self] in
            do {
                let chunk = try await next()
                if chunk == nil { run(.complete) }
                return chunk
            } catch {
                run(.failed(error))
                throw error
            }
        }
    }

    /// Reports the end of `drain`, which reads the whole body in one call.
    func reporting(_ drain: () async throws -> Void) async throws {
        do {
            try await drain()
            run(.complete)
        } catch {
            run(.failed(error))
            throw error
        }
    }

    deinit { run(.dropped) }
}
