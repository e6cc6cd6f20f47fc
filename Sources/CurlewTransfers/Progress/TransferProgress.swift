// SPDX-License-Identifier: MIT

import CurlewCore

/// The progress of an upload or a download at one moment.
///
///     try await client.download(.export, to: path) { progress in print(progress) }
///     .post("/films", body: .multipart(form).reporting { progress in print(progress) })
///
/// A handler receives the first value when the transfer starts, then at most one value per 100 ms, and the last value
/// (`isLast`) when the transfer has ended, also if it failed or was cancelled. `completed` never decreases, even if
/// bytes are sent again. Values arrive one at a time, on any thread. A slow handler can delay the transfer and the
/// return of the call. A transfer that fails before its start may report no value. `Updates` passes values to a task.
public struct TransferProgress: Sendable, Hashable {
    /// Receives the values of one transfer.
    public typealias Handler = @Sendable (TransferProgress) -> Void

    /// The number of bytes that have been transferred.
    public let completed: Int64
    /// The number of bytes in total; nil while it is unknown.
    public let total: Int64?
    /// The smoothed rate in bytes per second, in which the last five seconds or so count most. 0 at the start.
    public let bytesPerSecond: Double
    /// Whether this is the last value: the transfer has succeeded, failed or been cancelled. Only the call tells which.
    public let isLast: Bool

    /// Creates a value, for previews and tests.
    public init(completed: Int64, total: Int64? = nil, bytesPerSecond: Double = 0, isLast: Bool = false) {
        self.completed = completed
        self.total = total
        self.bytesPerSecond = bytesPerSecond
        self.isLast = isLast
    }

    /// The completed part, from 0 to 1; nil while the total is unknown. 1 for a complete transfer without bytes.
    public var fraction: Double? {
        guard let total else { return nil }
        return total > 0 ? min(1, Double(completed) / Double(total)) : 1
    }

    /// The estimated time until the end, at the current rate, at most 100 years; nil while the total is unknown, or
    /// bytes are missing and the rate is 0.
    public var timeLeft: Duration? {
        guard let total, total > completed else { return total == nil ? nil : .zero }
        guard bytesPerSecond > 0 else { return nil }
        // A century is the limit: a stalled transfer has a tiny rate.
        return .seconds(min(Double(total - completed) / bytesPerSecond, 3_153_600_000))
    }
}

extension TransferProgress: CustomStringConvertible {
    /// One line for people: `42 %, 12.6 MB of 30 MB, 3.1 MB/s, 6 s left`.
    public var description: String {
        var parts: [String] = []
        if let total {
            parts.append("\(Int(((fraction ?? 0) * 100).rounded(.down))) %")
            parts.append("\(Self.text(bytes: Double(completed))) of \(Self.text(bytes: Double(total)))")
        } else {
            parts.append(Self.text(bytes: Double(completed)))
        }
        if bytesPerSecond > 0 { parts.append(Self.text(bytes: bytesPerSecond) + "/s") }
        if !isLast, let timeLeft, timeLeft > .zero { parts.append("\(Self.text(of: timeLeft)) left") }
        return parts.joined(separator: ", ")
    }

    /// Returns a number of bytes with a decimal prefix: `999 bytes`, `12.6 kB`, `3 GB`.
    static func text(bytes: Double) -> String {
        guard bytes >= 1000 else { return "\(Int(max(0, bytes))) bytes" }
        var number = bytes
        var unit = -1
        while number >= 999.95, unit < 4 {
            number /= 1000
            unit += 1
        }
        let tenths = Int((number * 10).rounded())
        let shown = tenths % 10 == 0 || tenths >= 1000 ? "\((tenths + 5) / 10)" : "\(tenths / 10).\(tenths % 10)"
        return shown + " " + ["kB", "MB", "GB", "TB", "PB"][max(0, unit)]
    }

    /// Returns a duration in the two largest units: `6 s`, `3 min 20 s`, `2 h 5 min`, `40 d`.
    static func text(of duration: Duration) -> String {
        let seconds = max(1, (duration.roundedUpMilliseconds + 500) / 1000)
        switch seconds {
        case ..<60: return "\(seconds) s"
        case ..<3600: return "\(seconds / 60) min \(seconds % 60) s"
        case ..<172_800: return "\(seconds / 3600) h \(seconds % 3600 / 60) min"
        default: return "\(seconds / 86400) d"
        }
    }
}

extension TransferProgress {
    /// The values of one transfer as an asynchronous sequence, for a task that shows them.
    ///
    ///     let updates = TransferProgress.Updates()
    ///     async let saved = client.download(.export, to: path, progress: updates.handler)
    ///     for await progress in updates { bar.show(progress) }
    ///     _ = try await saved
    ///
    /// A slow reader misses values and always receives the newest one, so memory is bounded. The sequence ends after
    /// the last value of the transfer, or when nothing retains the handler any more, because a call that fails at once
    /// reports no value. Iterate once, in one task.
    public struct Updates: AsyncSequence, Sendable {
        private let stream: AsyncStream<TransferProgress>
        private let source: AsyncStream<TransferProgress>.Continuation

        /// Creates a sequence that waits for a transfer.
        public init() {
            (stream, source) = AsyncStream.makeStream(of: TransferProgress.self, bufferingPolicy: .bufferingNewest(1))
        }

        /// A handler to pass to the transfer. Use it once: each access creates one.
        public var handler: Handler {
            let end = End(source: source)
            return { value in
                end.source.yield(value)
                if value.isLast { end.source.finish() }
            }
        }

        private final class End: Sendable {
            let source: AsyncStream<TransferProgress>.Continuation

            init(source: AsyncStream<TransferProgress>.Continuation) { self.source = source }
            deinit { source.finish() }
        }

        /// Returns an iterator over the values to come.
        public func makeAsyncIterator() -> AsyncStream<TransferProgress>.Iterator {
            stream.makeAsyncIterator()
        }
    }
}
