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

    deinit { run(.dropped) }
}
