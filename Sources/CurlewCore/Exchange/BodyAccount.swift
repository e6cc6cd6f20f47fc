// SPDX-License-Identifier: MIT

/// The flow control of one body between its producer and its single reader. It counts bytes and records the end of the
/// body, but does not store the bytes.
///
///     open ──▶ ended ──▶ end delivered
///
/// The owner stores the bytes, the reader's continuation and the lock. It reports each event to this value and performs
/// the returned step. Guarantees for every order of events:
/// - A waiting reader is resumed exactly once, and never with zero bytes.
/// - Only the first end counts. It is delivered after the last byte, and again if the reader requests it again.
/// - At `capacity` bytes the producer pauses. The read that makes room resumes it exactly once per pause.
/// - Bytes that arrive after the end are dropped, because earlier bytes may have been dropped, and the reader must not
///   receive bytes that follow a gap.
/// - When `waiting` is 0 after an event, the owner keeps no bytes of the body.
package struct BodyAccount: Sendable {
    /// The step that the owner must perform after an event.
    package enum Step: Equatable, Sendable {
        /// Do nothing: no reader is waiting, or there is nothing for the waiting reader.
        case wait
        /// Deliver all bytes to the reader, including those of this event.
        case deliver
        /// Deliver all bytes to the reader and resume the producer.
        case deliverAndResume
        /// Call `release` when no more bytes arrive for now: a reader is waiting, and there are fewer bytes than a
        /// batch.
        case due
        /// Pause the producer. The bytes of this event were not counted: the producer delivers them again when it is
        /// resumed.
        case pause
        /// Deliver `end` to the reader.
        case end
        /// Drop the bytes of this event and do not notify the reader: the body had already ended.
        case late
    }

    private enum Reader {
        case away, waiting, ended
    }

    /// The number of bytes at which a waiting reader is resumed, unless the owner calls `release` earlier.
    package let batch: Int
    private let capacity: Int
    /// The number of bytes that have arrived and that the reader has not taken.
    package private(set) var waiting: Int
    /// True while the producer must pause, until the reader has made room.
    package private(set) var isPaused = false
    /// The result with which the body ended; nil until then. It is delivered to the reader after all bytes.
    package private(set) var end: Result<Void, NetworkError>?
    private var reader = Reader.away

    /// Creates an account for a body with `waiting` bytes already buffered. `batch` is limited to `capacity`.
    package init(capacity: Int, batch: Int = 1, waiting: Int = 0) {
        self.capacity = capacity
        self.batch = min(batch, capacity)
        self.waiting = waiting
    }

    /// Returns whether the producer may deliver more bytes. If `capacity` bytes are buffered and the body has not
    /// ended, returns false and records that the producer must pause.
    package mutating func hasRoom() -> Bool {
        isPaused = waiting >= capacity && end == nil
        return !isPaused
    }

    /// Records that `count` bytes have arrived.
    ///
    /// - `isForced`: whether the bytes count even if there is no room, because the producer cannot deliver them again.
    package mutating func arrive(_ count: Int, isForced: Bool = false) -> Step {
        guard end == nil else { return .late }
        guard isForced || hasRoom() else { return .pause }
        waiting += count
        return reader == .waiting && waiting < batch ? .due : release()
    }

    /// Records that no more bytes arrive for now, so that a waiting reader receives those that have arrived.
    package mutating func release() -> Step {
        reader == .waiting && waiting > 0 ? deliver() : .wait
    }

    /// Records that the reader requests bytes.
    package mutating func read() -> Step {
        if waiting > 0 { return deliver() }
        reader = end == nil ? .waiting : .ended
        return end == nil ? .wait : .end
    }

    /// Records that the body has ended.
    ///
    /// - `droppingRemainder`: whether to drop the bytes that the reader has not taken.
    package mutating func finish(_ result: Result<Void, NetworkError>, droppingRemainder: Bool = false) -> Step {
        guard end == nil else { return .late }
        end = result
        isPaused = false
        if droppingRemainder { waiting = 0 }
        return reader == .waiting ? read() : .wait
    }

    /// Drops the rest of the body. Further reads fail with `.cancelled`, unless the end has already been delivered to
    /// the reader.
    package mutating func abandon() -> Step {
        let cancelled = Result<Void, NetworkError>.failure(NetworkError(.cancelled))
        guard end != nil else { return finish(cancelled, droppingRemainder: true) }
        if reader != .ended { (end, waiting) = (cancelled, 0) }
        return .late
    }

    private mutating func deliver() -> Step {
        defer { (waiting, reader, isPaused) = (0, .away, false) }
        return isPaused ? .deliverAndResume : .deliver
    }
}
