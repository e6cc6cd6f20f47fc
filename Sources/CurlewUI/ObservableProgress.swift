// SPDX-License-Identifier: MIT

import CurlewCore
public import CurlewTransfers
public import Observation

/// The progress of a transfer as an observable object, for SwiftUI and other observers.
///
///     let progress = ObservableProgress()
///     try await client.download(.export, to: path, progress: progress.handler)
///     // in a view: ProgressView(value: progress.fraction)
///
/// Values arrive on the main actor, in order. If the main actor is busy, it receives only the newest value. Use the
/// object for one transfer at a time; the next transfer may use it again.
@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
@MainActor @Observable
public final class ObservableProgress {
    /// The newest value; nil before the first transfer, and after `reset()`.
    public private(set) var value: TransferProgress?

    @ObservationIgnored nonisolated private let inbox = Locked(Inbox())

    private struct Inbox: Sendable {
        var newest: TransferProgress?
        var isScheduled = false
    }

    /// Creates an object without a value.
    nonisolated public init() {}

    /// The handler to pass to a transfer, which may call it on any thread. The handler does not retain the object.
    nonisolated public var handler: TransferProgress.Handler {
        { [weak self] value in self?.receive(value) }
    }

    /// The completed part, from 0 to 1; nil while there is no value or the total is unknown.
    public var fraction: Double? { value?.fraction }

    /// Removes the value, for example when the screen shows another transfer, and drops values that have not reached
    /// the main actor. A transfer that continues sets new values.
    public func reset() {
        inbox.withLock { $0.newest = nil }
        value = nil
    }

    nonisolated private func receive(_ value: TransferProgress) {
        let isFirst = inbox.withLock { inbox in
            inbox.newest = value
            defer { inbox.isScheduled = true }
            return !inbox.isScheduled
        }
        guard isFirst else { return }
        Task { @MainActor [weak self] in self?.take() }
    }

    private func take() {
        let newest = inbox.withLock { inbox in
            inbox.isScheduled = false
            defer { inbox.newest = nil }
            return inbox.newest
        }
        if let newest { value = newest }
    }
}
