// SPDX-License-Identifier: MIT

import CurlewCore

extension NetworkError {
    /// Creates the error of work that its callers have not cancelled. A cancellation by other code becomes another
    /// error, because a screen would otherwise wait for a load that is over.
    init(ofWork error: any Error) {
        self = NetworkError(error)
        guard isCancelled else { return }
        self = NetworkError(
            .connectionLost(.requestMayHaveArrived),
            detail: "The load was cancelled, although its callers still wait for it.",
            underlying: error)
    }
}

/// A task that several callers on the main actor wait for. A caller that is cancelled stops waiting.
@MainActor
final class SharedWork {
    private let done = SharedResult<Void>()
    private var task: Task<Void, Never>?
    private var waiters = 0

    func start(_ work: @escaping @MainActor () async -> Void) {
        task = Task { await work() }
    }

    /// Waits until no work is in progress, or until the caller is cancelled. If newer work supersedes the awaited work,
    /// the caller waits for the newer work. The last caller that stops waiting cancels the work.
    static func settle(
        _ work: SharedWork, current: @MainActor () -> SharedWork?, cancel: @MainActor () -> Void
    ) async {
        var awaited = work
        while await awaited.wait() {
            guard let newer = current(), newer !== awaited else { return }
            awaited = newer
        }
        if awaited.waiters == 0, current() === awaited { cancel() }
    }

    /// Waits for the work. Returns true when it has ended, and false if the caller is cancelled earlier.
    private func wait() async -> Bool {
        waiters += 1
        defer { waiters -= 1 }
        do {
            try await done.wait()
            return true
        } catch {
            return false
        }
    }

    /// Cancels the work if it is still running, and resumes the waiting callers.
    func end() {
        task?.cancel()
        done.finish(.success(()))
    }

    deinit { task?.cancel() }
}
