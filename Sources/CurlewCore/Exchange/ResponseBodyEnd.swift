// SPDX-License-Identifier: MIT

/// How reading a body came to its end.
package enum ResponseBodyEnd: Sendable {
    case complete
    case failed(any Error)
    /// Cancelled, or nobody can read it any more.
    case dropped
}

/// Runs once: when it is told to, or when nobody is left who could tell it.
final class Ending: Sendable {
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

    /// The same chunks, and their end told.
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

    /// The same for one who takes the whole body at a time.
    func telling(_ drain: () async throws -> Void) async throws {
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
