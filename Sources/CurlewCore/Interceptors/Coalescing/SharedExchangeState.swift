// SPDX-License-Identifier: MIT

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Who takes part in a shared exchange and what each has got. It acts on nothing: it says what there is to do.
///
///     waiting ──answer──▶ whole: each reader takes a copy
///        │                  └─ or a body follows: a chunk stands here until the last reader has taken it
///        └──────failure──▶ each reader takes the error
///
/// Who has taken everything is no reader any more. When the last one leaves before that, the work stops.
struct SharedExchangeState: Sendable {
    typealias Waiter = CheckedContinuation<Delivery, any Error>

    /// What a reader takes: first the head, then chunks, then nil.
    enum Delivery: Sendable {
        /// The answer is another one's: ask anew.
        case nothing
        case head(HTTPResponse, isWhole: Bool)
        case chunk(Data?)
    }

    /// What there is to do once the lock is free.
    struct Effects: Sendable {
        var deliveries: [(Waiter, Result<Delivery, any Error>)] = []
        /// Whether the one who brings chunks goes on.
        var pump: (CheckedContinuation<Bool, Never>, goesOn: Bool)?
        var alarm: MonotonicInstant?
        /// Nobody is left to work for.
        var stops = false
    }

    private struct Reader: Sendable {
        let deadline: Deadline
        let phase: NetworkError.Phase
        var hasHead = false
        /// The number of the next chunk.
        var position = 0
        /// Where it stood when others began to wait for it.
        var mark = -1
        var waiter: Waiter?

        var isHungry: Bool { hasHead && waiter != nil }
    }

    private struct Chunk: Sendable {
        let data: Data
        /// How many readers have yet to take it.
        var remaining: Int
    }

    private static let firstTicket: UInt64 = 1

    private let window: Int
    private let patience: Duration
    private var readers: [UInt64: Reader] = [:]
    /// What those hear who were sent away and did not wait at that moment, until they ask.
    private var departed: [UInt64: Result<Delivery, any Error>] = [:]
    private var lastTicket: UInt64 = 0
    private var answer: Result<HTTPResponse, NetworkError>?
    private var isWhole = false
    private var chunks: [Chunk] = []
    /// The number of the first chunk that is kept.
    private var first = 0
    private var buffered = 0
    private var end: Result<Void, NetworkError>?
    /// True once the last reader has left before the end.
    private(set) var isStopped = false
    private var pump: CheckedContinuation<Bool, Never>?
    /// When somebody began to wait for others, or when that was last looked at.
    private var starvedSince: MonotonicInstant?
    private var hasLooked = false

    init(window: Int, patience: Duration) {
        self.window = window
        self.patience = patience
    }

    // MARK: What calls do

    /// A place, as long as there is no answer.
    mutating func join(_ context: ExchangeContext) -> UInt64? {
        guard answer == nil, !isStopped else { return nil }
        lastTicket += 1
        let deadline = context.deadline
        readers[lastTicket] = Reader(
            deadline: deadline, phase: deadline == context.totalDeadline ? .total : .attempt)
        return lastTicket
    }

    /// Gives what is there, or keeps the waiter until something is.
    mutating func wait(
        _ ticket: UInt64, _ waiter: Waiter, now: MonotonicInstant, _ effects: inout Effects
    ) {
        if let result = take(ticket, &effects) { return effects.deliveries.append((waiter, result)) }
        readers[ticket]?.waiter = waiter
        feed(now, &effects)
    }

    /// What is there for a reader; nil if it has to wait.
    mutating func take(_ ticket: UInt64, _ effects: inout Effects) -> Result<Delivery, any Error>? {
        guard let reader = readers[ticket] else {
            return departed.removeValue(forKey: ticket) ?? .failure(NetworkError(.cancelled))
        }
        switch answer {
        case nil:
            return nil
        case .failure(let error):
            readers[ticket] = nil
            return .failure(error)
        case .success(let response) where !reader.hasHead:
            readers[ticket]?.hasHead = true
            if isWhole { readers[ticket] = nil }
            return .success(.head(response, isWhole: isWhole))
        case .success:
            return takeChunk(ticket, reader.position, &effects)
        }
    }

    private mutating func takeChunk(
        _ ticket: UInt64, _ position: Int, _ effects: inout Effects
    ) -> Result<Delivery, any Error>? {
        if position < first + chunks.count {
            let data = chunks[position - first].data
            chunks[position - first].remaining -= 1
            readers[ticket]?.position += 1
            trim(&effects)
            return .success(.chunk(data))
        }
        guard let end else { return nil }
        readers[ticket] = nil
        return end.map { .chunk(nil) }.mapError { $0 }
    }

    /// Takes a reader off, with the reason that it gets if it asks again.
    mutating func leave(_ ticket: UInt64, because error: NetworkError?, _ effects: inout Effects) {
        guard let reader = readers.removeValue(forKey: ticket) else {
            if error == nil { departed[ticket] = nil }
            return
        }
        if let waiter = reader.waiter {
            effects.deliveries.append((waiter, .failure(error ?? NetworkError(.cancelled))))
        } else if let error {
            departed[ticket] = .failure(error)
        }
        for index in max(0, reader.position - first)..<max(chunks.count, reader.position - first) {
            chunks[index].remaining -= 1
        }
        trim(&effects)
        guard readers.isEmpty, !isFinished else { return }
        isStopped = true
        effects.stops = true
        if let pump { effects.pump = (pump, false) }
        pump = nil
    }

    // MARK: What the work does

    /// The head is there, with the whole body or with one to follow. False if nobody wants it any more.
    ///
    /// - `isShared`: whether it is for all, or only for the one who began.
    mutating func land(_ response: HTTPResponse, isWhole: Bool, isShared: Bool, _ effects: inout Effects) -> Bool {
        guard !isStopped else { return false }
        if !isShared {
            for (ticket, reader) in readers where ticket != Self.firstTicket {
                readers[ticket] = nil
                if let waiter = reader.waiter {
                    effects.deliveries.append((waiter, .success(.nothing)))
                } else {
                    departed[ticket] = .success(.nothing)
                }
            }
            isStopped = readers.isEmpty
            guard !isStopped else { return false }
        }
        answer = .success(response)
        self.isWhole = isWhole
        serve(&effects)
        return true
    }

    /// There will be no answer, or no more of it.
    mutating func finish(_ result: Result<Void, NetworkError>, _ effects: inout Effects) {
        if answer == nil, case .failure(let error) = result { answer = .failure(error) }
        end = end ?? result
        serve(&effects)
    }

    /// The one who brings chunks waits until somebody wants one and there is room.
    mutating func waitForDemand(
        _ pump: CheckedContinuation<Bool, Never>, now: MonotonicInstant, _ effects: inout Effects
    ) {
        guard !isStopped else {
            effects.pump = (pump, false)
            return
        }
        self.pump = pump
        feed(now, &effects)
    }

    /// A chunk for everybody.
    mutating func append(_ data: Data, _ effects: inout Effects) {
        guard !readers.isEmpty else { return }
        chunks.append(Chunk(data: data, remaining: readers.count))
        buffered += data.count
        serve(&effects)
    }

    /// Sends away whose time has come, and who holds up others for too long.
    mutating func ring(_ now: MonotonicInstant, _ effects: inout Effects) {
        for (ticket, reader) in readers where reader.deadline.hasPassed(at: now) {
            let error = NetworkError(
                .timedOut(reader.phase), detail: "The call's time was over before the exchange that it shared.")
            leave(ticket, because: error, &effects)
        }
        if let start = starvedSince, start.advanced(by: patience / 2) <= now { look(now, &effects) }
        feed(now, &effects)
        effects.alarm = nextAlarm
    }

    /// Two looks make the patience: when the system has slept, readers get time to move before the second one.
    private mutating func look(_ now: MonotonicInstant, _ effects: inout Effects) {
        guard hasLooked else {
            (starvedSince, hasLooked) = (now, true)
            return
        }
        for (ticket, reader) in readers where reader.position == reader.mark && !reader.isHungry {
            leave(ticket, because: Self.leftBehind(after: patience), &effects)
        }
        starvedSince = nil
    }

    /// When to look again; nil when there is nothing to watch.
    var nextAlarm: MonotonicInstant? {
        let deadline = readers.values.compactMap(\.deadline.instant).min()
        return Deadline(deadline).earlier(Deadline(starvedSince?.advanced(by: patience / 2))).instant
    }

    // MARK: Inside

    var hasReaders: Bool { !readers.isEmpty }

    private var isFinished: Bool { isStopped || isWhole || end != nil }

    private var isStarving: Bool { readers.values.contains { $0.isHungry } }

    /// Gives those who wait what there is for them.
    private mutating func serve(_ effects: inout Effects) {
        for (ticket, reader) in readers {
            guard let waiter = reader.waiter, let result = take(ticket, &effects) else { continue }
            readers[ticket]?.waiter = nil
            effects.deliveries.append((waiter, result))
        }
    }

    /// Sends for more if somebody wants it and there is room; without room, those who hold it are watched.
    private mutating func feed(_ now: MonotonicInstant, _ effects: inout Effects) {
        guard let pump, isStarving else { return }
        guard buffered >= window else {
            starvedSince = nil
            effects.pump = (pump, true)
            self.pump = nil
            return
        }
        guard starvedSince == nil else { return }
        (starvedSince, hasLooked) = (now, false)
        for (ticket, reader) in readers { readers[ticket]?.mark = reader.position }
        effects.alarm = now.advanced(by: patience / 2)
    }

    /// Lets go of what everybody has.
    private mutating func trim(_ effects: inout Effects) {
        var count = 0
        while count < chunks.count, chunks[count].remaining == 0 {
            buffered -= chunks[count].data.count
            count += 1
        }
        guard count > 0 else { return }
        chunks.removeFirst(count)
        first += count
        guard buffered < window else { return }
        starvedSince = nil
        if let pump, isStarving {
            effects.pump = (pump, true)
            self.pump = nil
        }
    }

    private static func leftBehind(after patience: Duration) -> NetworkError {
        NetworkError(
            .timedOut(.idle),
            detail: "The body is shared with other calls, which waited for this reader for \(patience.brief).",
            hint: "Read bodies as they come, or set options.coalesces = false for calls that take their time.")
    }
}
