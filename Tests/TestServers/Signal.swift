// SPDX-License-Identifier: MIT

import CurlewCore
import Foundation

/// An event that happens once: tasks and threads wait for it, any of them triggers it.
package final class Signal: Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation
    private let semaphore = DispatchSemaphore(value: 0)

    package init() {
        (stream, continuation) = AsyncStream.makeStream()
    }

    package func fire() {
        continuation.finish()
        semaphore.signal()
    }

    /// For tasks, several if need be; returns also when the task is cancelled, as the suite's time limit does.
    package func wait() async {
        for await _ in stream {}
    }

    /// For threads of servers; at most 50 s.
    package func block() {
        guard semaphore.wait(timeout: .now() + 50) == .success else { return }
        semaphore.signal()
    }
}

/// Asks again, without holding a thread, until `condition` is true; false if it is not within `limit`.
///
/// For states of the system that nothing announces: threads, descriptors, how far a peer has got.
package func eventually(within limit: Duration = .seconds(30), _ condition: () -> Bool) async -> Bool {
    let end = ContinuousClock.now + limit
    while !condition() {
        if ContinuousClock.now > end { return false }
        try? await SystemTime().sleep(for: .milliseconds(2))
    }
    return true
}
