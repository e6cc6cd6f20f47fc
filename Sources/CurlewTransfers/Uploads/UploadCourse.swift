// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The state machine of one upload, or of one of its parallel parts: events in, one action out.
///
/// There is one action at a time, so two requests never transfer the same upload. After each failure of a transfer the
/// machine asks the server for the offset and continues there.
struct UploadCourse: Sendable {
    enum Event: Sendable {
        case begin
        /// The chunk was read that the last action asked for.
        case read(UploadChunk)
        case answered(UploadReply)
        /// The request failed, or its status is not a success.
        case failed(NetworkError)
        case waited
    }

    enum Action: Sendable {
        case send(UploadCall)
        /// Read a chunk of at most `limit` bytes at `offset`, with its digest if there is a checksum.
        case read(offset: Int64, limit: Int64, UploadChecksum?)
        case wait(Duration)
        case finish
        case fail(NetworkError)
    }

    enum State: Hashable, Sendable {
        case idle
        /// The chunk is read that goes with the creation.
        case preparing
        case creating(UploadChunk?)
        case asking
        case reading(Int64)
        case appending(Int64, UploadChunk)
        case waiting(Step)
        case ended
    }

    /// What follows a wait.
    enum Step: Hashable, Sendable {
        case create, ask
    }

    let dialect: any UploadDialect
    var plan: UploadPlan
    /// The absolute URL of the upload; nil until it is created.
    var url: String?
    var expires: Date?
    /// The offset that the server last confirmed.
    var offset: Int64 = 0
    var state = State.idle
    /// The highest confirmed offset: only beyond it is progress.
    var highest: Int64 = -1
    /// The highest offset that an interim response has confirmed.
    var acknowledged: Int64 = 0
    var failures = 0
    var restarts = 0
    /// The end of what was sent; nil for a resumed upload, whose earlier requests are unknown.
    var sent: Int64?
    private var usesChecksums: Bool

    init(
        _ dialect: any UploadDialect, _ plan: UploadPlan, url: String? = nil, expires: Date? = nil,
        usesChecksums: Bool = false
    ) {
        self.dialect = dialect
        self.plan = plan
        self.url = url
        self.expires = expires
        sent = url == nil ? 0 : nil
        self.usesChecksums = usesChecksums && plan.features.checksum != nil
    }

    /// Returns the next action.
    ///
    /// - `random`: the jitter of a wait, from 0 to 1.
    mutating func handle(_ event: Event, at now: Date, random: Double) -> Action {
        switch (state, event) {
        case (.idle, .begin): begin(at: now)
        case (.preparing, .read(let chunk)): create(with: chunk)
        case (.creating(let chunk), .answered(let reply)): created(reply, chunk, at: now, random)
        case (.asking, .answered(let reply)): located(reply, at: now, random)
        case (.reading(let offset), .read(let chunk)): append(chunk, at: offset)
        case (.appending(let offset, let chunk), .answered(let reply)):
            appended(reply, offset, chunk, at: now, random)
        case (.waiting(.create), .waited): prepare()
        case (.waiting(.ask), .waited): ask()
        case (.preparing, .failed(let error)), (.creating, .failed(let error)), (.asking, .failed(let error)),
            (.reading, .failed(let error)), (.appending, .failed(let error)):
            failed(error, at: now, random)
        default: end(.fail(NetworkError(.badResponse, detail: "The upload received an event out of order.")))
        }
    }

    mutating func begin(at now: Date) -> Action {
        if let length = plan.length, let most = plan.features.maximumSize, length > most { return tooLarge(most) }
        guard url != nil else { return prepare() }
        if let expires, expires <= now { return restart(NetworkError(.status(.gone))) }
        return ask()
    }

    mutating func prepare() -> Action {
        let count = plan.chunkWithCreation(dialect)
        // tus defines checksums only for PATCH.
        guard count > 0, checksum == nil || dialect.resumption == .draft else { return create(with: nil) }
        state = .preparing
        return .read(offset: 0, limit: count, checksum)
    }

    mutating func create(with chunk: UploadChunk?) -> Action {
        sent = chunk?.count ?? 0
        state = .creating(chunk)
        return .send(dialect.creation(plan, chunk: chunk))
    }

    mutating func created(_ reply: UploadReply, _ chunk: UploadChunk?, at now: Date, _ random: Double) -> Action {
        let status = take(reply.headers, at: now)
        // A response to all of the content may come from the resource itself, which has no use for an upload.
        if dialect.resumption == .draft, chunk?.isLast == true { return complete() }
        guard let location = reply.headers[.location] else {
            return end(
                .fail(
                    NetworkError(
                        .badResponse, detail: "The server created an upload without a Location field.",
                        hint: "Check that the URL is the one that creates uploads.")))
        }
        do throws(NetworkError) {
            let announced = url
            url = try Self.resolve(location, against: reply.url)
            guard announced == nil || announced == url else { throw Self.moved }
        } catch {
            return end(.fail(error))
        }
        if case .join = plan.role { return complete() }
        if let most = plan.features.maximumSize, let length = plan.length, length > most { return tooLarge(most) }
        if chunk == nil { return advance(to: 0, status, isConfirmed: false, random) }
        guard let offset = status.offset else { return ask() }
        return advance(to: offset, status, isConfirmed: false, random)
    }

    mutating func ask() -> Action {
        guard let url else { return prepare() }
        state = .asking
        return .send(dialect.question(url))
    }

    mutating func located(_ reply: UploadReply, at now: Date, _ random: Double) -> Action {
        let status = take(reply.headers, at: now)
        // A portal of a network answers everything with its own page.
        guard let offset = status.offset else {
            return retry(
                NetworkError(.badResponse, detail: "The server did not report the offset of the upload."), random)
        }
        if let length = status.length, let mine = plan.length, length != mine {
            return restart(
                NetworkError(
                    .badResponse, detail: "The upload on the server has \(length) bytes, the source has \(mine)."))
        }
        return advance(to: offset, status, isConfirmed: false, random)
    }

    mutating func append(_ chunk: UploadChunk, at offset: Int64) -> Action {
        guard let url else { return prepare() }
        if chunk.isLast, plan.length == nil { plan.length = offset + chunk.count }
        sent = max(sent ?? 0, offset + chunk.count)
        state = .appending(offset, chunk)
        return .send(dialect.append(chunk, at: offset, to: url, plan))
    }

    mutating func appended(
        _ reply: UploadReply, _ start: Int64, _ chunk: UploadChunk, at now: Date, _ random: Double
    ) -> Action {
        let status = take(reply.headers, at: now)
        let end = start + chunk.count
        if dialect.resumption == .draft, chunk.isLast {
            // Something else than the upload may have responded, such as a portal of a network.
            guard let isComplete = status.isComplete else { return ask() }
            if isComplete, status.offset ?? end == end { return complete() }
        }
        guard let offset = status.offset ?? (dialect.resumption == .draft ? end : nil) else { return ask() }
        return advance(to: offset, status, isConfirmed: chunk.isLast, random)
    }

    /// Continues at the offset that the server has.
    ///
    /// - `isConfirmed`: whether the server has received the length, so that it knows that the upload is complete.
    mutating func advance(
        to offset: Int64, _ status: UploadState, isConfirmed: Bool, _ random: Double
    ) -> Action {
        if let length = plan.length, offset > length {
            return restart(
                NetworkError(
                    .badResponse, detail: "The upload on the server has \(offset) bytes, the source has \(length)."))
        }
        if let sent, offset > sent {
            return end(
                .fail(
                    NetworkError(
                        .badResponse, detail: "The server has \(offset) bytes of the upload; \(sent) were sent.",
                        hint: "Another client may write to the same upload.")))
        }
        self.offset = offset
        sent = max(sent ?? offset, offset)
        if status.isComplete == true, offset != plan.length {
            return end(
                .fail(
                    NetworkError(
                        .badResponse, detail: "The server completed the upload with \(offset) bytes.",
                        hint: "Another client may write to the same upload.")))
        }
        if isComplete(at: offset, status, isConfirmed: isConfirmed) { return complete() }
        if offset > highest {
            highest = offset
            failures = 0
        } else if case .appending = state {
            return retry(
                NetworkError(.badResponse, detail: "The server received a part of the upload and kept nothing."), random
            )
        }
        state = .reading(offset)
        return .read(offset: offset, limit: plan.limit, checksum)
    }

    private func isComplete(at offset: Int64, _ status: UploadState, isConfirmed: Bool) -> Bool {
        if let isComplete = status.isComplete { return isComplete }
        guard dialect.resumption == .tus, offset == plan.length else { return false }
        return !plan.defersLength || isConfirmed || (status.length != nil && !status.isLengthDeferred)
    }

    mutating func complete() -> Action {
        if let length = plan.length { offset = length }
        return end(.finish)
    }

    mutating func end(_ action: Action) -> Action {
        state = .ended
        return action
    }

    private var checksum: UploadChecksum? { usesChecksums ? plan.features.checksum : nil }

    /// Takes the limits of a response into the plan.
    mutating func take(_ headers: HTTPHeaders, at now: Date) -> UploadState {
        let status = dialect.state(headers, at: now)
        if let expires = status.expires { self.expires = expires }
        if let most = status.maximumSize { plan.features.maximumSize = most }
        if let most = status.maximumAppend { plan.features.maximumAppend = most }
        if let least = status.minimumAppend { plan.features.minimumAppend = least }
        return status
    }
}
