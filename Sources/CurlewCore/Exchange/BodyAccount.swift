// SPDX-License-Identifier: MIT

/// The accounting of one body between its producer and its one reader: numbers and ends, no bytes.
///
///     open ──▶ ended ──▶ told
///
/// The owner keeps the bytes, the reader's continuation and the lock, reports each event here and does what the returned
/// step says. Whatever the order of events:
/// - A reader who waits is told exactly once, and never that nothing has come.
/// - The end is told after the last byte, and the first end counts. The reader may ask for it again.
/// - At `capacity` bytes the producer pauses; the read that makes room resumes it, exactly once for each pause.
/// - What comes after the end is dropped: bytes before it may have been, and this must not seem to follow them.
/// - When `waiting` is 0 after an event, the owner keeps no bytes of the body.
package struct BodyAccount: Sendable {
    /// What the owner does after an event.
    package enum Step: Equatable, Sendable {
        /// Nothing: nobody waits, or nothing is there for who waits.
        case wait
        /// The reader gets all bytes, those of this event included.
        case deliver
        /// The same, and the producer goes on.
        case deliverAndResume
        /// A reader waits for fewer bytes than a batch: the owner calls `release` when no more come for now.
        case due
        /// The bytes of this event were not counted. The producer pauses, and brings them again when it is resumed.
        case pause
        /// The reader gets `end`.
        case end
        /// The body had ended before: bytes of this event are dropped, nobody is told.
        case late
    }

    private enum Reader {
        case away, waiting, told
    }

    /// A reader who waits is told at so many bytes, or when the owner calls `release`.
    package let batch: Int
    private let capacity: Int
    /// Bytes that nobody has taken.
    package private(set) var waiting: Int
    /// The producer pauses until the reader has made room.
    package private(set) var isPaused = false
    /// How the body ended. The reader hears of it when it has all bytes.
    package private(set) var end: Result<Void, NetworkError>?
    private var reader = Reader.away

    /// The account of a body of which `waiting` bytes are there.
    package init(capacity: Int, batch: Int = 1, waiting: Int = 0) {
        self.capacity = capacity
        self.batch = min(batch, capacity)
        self.waiting = waiting
    }

    /// False when the producer has to pause: there are `capacity` bytes, and more are not to be dropped.
    package mutating func hasRoom() -> Bool {
        isPaused = waiting >= capacity && end == nil
        return !isPaused
    }

    /// `count` bytes have come.
    ///
    /// - `isForced`: they count even if there is no room, because they cannot be brought again.
    package mutating func arrive(_ count: Int, isForced: Bool = false) -> Step {
        guard end == nil else { return .late }
        guard isForced || hasRoom() else { return .pause }
        waiting += count
        return reader == .waiting && waiting < batch ? .due : release()
    }

    /// No more bytes come for now.
    package mutating func release() -> Step {
        reader == .waiting && waiting > 0 ? deliver() : .wait
    }

    /// The reader asks for bytes.
    package mutating func read() -> Step {
        if waiting > 0 { return deliver() }
        reader = end == nil ? .waiting : .told
        return end == nil ? .wait : .end
    }

    /// No more bytes come.
    ///
    /// - `droppingRest`: the reader does not get those that wait.
    package mutating func finish(_ result: Result<Void, NetworkError>, droppingRest: Bool = false) -> Step {
        guard end == nil else { return .late }
        end = result
        isPaused = false
        if droppingRest { waiting = 0 }
        return reader == .waiting ? read() : .wait
    }

    /// Nobody wants the rest: it is dropped, and reading on fails, unless the reader has heard of the end.
    package mutating func abandon() -> Step {
        let cancelled = Result<Void, NetworkError>.failure(NetworkError(.cancelled))
        guard end != nil else { return finish(cancelled, droppingRest: true) }
        if reader != .told { (end, waiting) = (cancelled, 0) }
        return .late
    }

    private mutating func deliver() -> Step {
        defer { (waiting, reader, isPaused) = (0, .away, false) }
        return isPaused ? .deliverAndResume : .deliver
    }
}
