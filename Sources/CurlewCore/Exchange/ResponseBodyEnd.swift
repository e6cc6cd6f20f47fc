// SPDX-License-Identifier: MIT

/// The result of reading a body.
package enum ResponseBodyEnd: Sendable {
    case complete
    case failed(any Error)
    /// The body was cancelled, or its last copy was released.
    case dropped
}

/// A callback that runs once: when `run` is called, or with `.dropped` when the last reference is released.
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

    /// Returns a function that returns the chunks of `next`, and runs the callback at their end.
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

    /// Calls `drain`, which reads the complete body, and then runs the callback.
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
