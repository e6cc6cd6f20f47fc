// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// A chunk of the source, as `UploadRun` sees it.
struct UploadChunk: Hashable, Sendable {
    var count: Int64
    /// The digest in Base64, if one was asked for.
    var digest: String?
}

/// The constant facts of one upload.
struct UploadPlan: Sendable {
    /// The number of bytes.
    var length: Int64
    /// The maximum number of bytes of a request, at least 1.
    var chunkSize = Int64.max
    var metadata: UploadMetadata
    var features = TusFeatures()
    var usesChecksums = false
    var maximumFailures = 10
    var maximumWait = Duration.seconds(60)

    var checksum: UploadChecksum? { usesChecksums ? features.checksum : nil }
}

/// The sequence of one upload: create it, ask for the offset, send a chunk, verify what the server has. Events in, one
/// action out.
///
/// There is one action at a time, so two requests never transfer the same upload. After each failure of a transfer the
/// server is asked for the offset, and the upload continues there.
struct UploadRun: Sendable {
    enum Event: Sendable {
        case begin
        /// The chunk was read that the last action asked for.
        case read(UploadChunk)
        /// The response is a success. `url` is its absolute URL, after redirects.
        case answered(HTTPHeaders, url: String)
        /// The request failed, or its status is not a success.
        case failed(NetworkError)
        case waited
    }

    enum Action: Sendable {
        case send(TusRequest)
        /// Read a chunk of at most `limit` bytes at `offset`, with its digest if there is a checksum.
        case read(offset: Int64, limit: Int64, UploadChecksum?)
        case wait(Duration)
        case finish
        case fail(NetworkError)
    }

    enum State: Hashable, Sendable {
        case idle
        case creating
        case asking
        case reading(Int64)
        case appending
        /// After the wait, the server is asked, or the upload is created if that has not happened.
        case waiting
        case ended
    }

    let plan: UploadPlan
    /// The absolute URL of the upload; nil until it is created.
    var url: String?
    var expires: Date?
    /// The offset that the server last confirmed.
    var offset: Int64 = 0
    var state = State.idle
    /// The offset of the last progress.
    var highest: Int64 = -1
    var failures = 0
    var restarts = 0
    /// The chunk that was sent last, and whether a successful response covers it that was not judged yet.
    var attempt: (start: Int64, count: Int64, isAnswered: Bool)?
    /// The bytes of the content that the requests of this call have sent, as their sender counts them.
    var taken: Int64 = 0
    /// The end of what was sent; nil for a resumed upload, whose earlier requests are unknown.
    var sent: Int64?

    init(_ plan: UploadPlan, url: String? = nil, expires: Date? = nil) {
        self.plan = plan
        self.url = url
        self.expires = expires
        sent = url == nil ? 0 : nil
    }

    /// Returns the next action.
    ///
    /// - `random`: the jitter of a wait, from 0 to 1.
    mutating func handle(_ event: Event, at now: Date, random: Double) -> Action {
        switch (state, event) {
        case (.idle, .begin): begin(at: now)
        case (.creating, .answered(let headers, let url)): created(headers, url, at: now, random)
        case (.asking, .answered(let headers, _)): located(headers, at: now, random)
        case (.reading(let offset), .read(let chunk)): append(chunk, at: offset)
        case (.appending, .answered(let headers, _)): appended(headers, at: now, random)
        case (.waiting, .waited): ask()
        case (.creating, .failed(let error)), (.asking, .failed(let error)), (.appending, .failed(let error)):
            failed(error, random)
        default: fail("The upload received an event out of order.", hint: nil)
        }
    }

    // MARK: Create

    private mutating func begin(at now: Date) -> Action {
        if let most = plan.features.maximumSize, plan.length > most {
            return fail(
                "The server accepts uploads of at most \(most) bytes.",
                hint: "Upload less, or raise the limit of the server.", .invalidRequest)
        }
        if url != nil, let expires, expires <= now { return restart(NetworkError(.status(.gone))) }
        return ask()
    }

    mutating func create() -> Action {
        sent = 0
        state = .creating
        return .send(TusRequests.creation(length: plan.length, plan.metadata))
    }

    private mutating func created(_ headers: HTTPHeaders, _ base: String, at now: Date, _ random: Double) -> Action {
        _ = take(headers, at: now)
        guard let location = headers[.location] else {
            return fail(
                "The server created an upload without a Location field.",
                hint: "Check that the URL is the one that creates uploads.")
        }
        do throws(NetworkError) {
            url = try Self.resolve(location, against: base)
        } catch {
            return end(.fail(error))
        }
        return advance(to: 0, random)
    }

    // MARK: Ask for the offset

    mutating func ask() -> Action {
        guard let url else { return create() }
        state = .asking
        return .send(TusRequests.question(url))
    }

    private mutating func located(_ headers: HTTPHeaders, at now: Date, _ random: Double) -> Action {
        let status = take(headers, at: now)
        // A portal of a network answers everything with its own page.
        guard let offset = status.offset else {
            return retry(
                NetworkError(.badResponse, detail: "The server did not report the offset of the upload."), random)
        }
        if let length = status.length, length != plan.length { return restart(otherLength(length)) }
        return advance(to: offset, random)
    }

    // MARK: Send

    private mutating func append(_ chunk: UploadChunk, at offset: Int64) -> Action {
        guard let url else { return create() }
        sent = max(sent ?? 0, offset + chunk.count)
        attempt = (offset, chunk.count, false)
        state = .appending
        return .send(TusRequests.append(chunk, at: offset, to: url, plan.checksum))
    }

    private mutating func appended(_ headers: HTTPHeaders, at now: Date, _ random: Double) -> Action {
        attempt?.isAnswered = true
        // Something else than the upload may have responded, such as a portal of a network.
        guard let offset = take(headers, at: now).offset else { return ask() }
        return advance(to: offset, random)
    }

    // MARK: Verify

    /// Continues at the offset that the server has, or ends the upload.
    private mutating func advance(to offset: Int64, _ random: Double) -> Action {
        if offset > plan.length { return restart(otherLength(offset)) }
        if let sent, offset > sent {
            return fail(
                "The server has \(offset) bytes of the upload; \(sent) were sent.",
                hint: "Another client may write to the same upload.")
        }
        self.offset = offset
        sent = max(sent ?? offset, offset)
        if offset == plan.length { return end(.finish) }
        let share = max(1, (attempt?.count ?? 0) / 8)
        if let attempt, attempt.isAnswered, offset - attempt.start < share {
            self.attempt?.isAnswered = false
            highest = max(highest, offset)
            return retry(
                NetworkError(.badResponse, detail: "The server received a part of the upload and hardly kept any."),
                random)
        }
        if offset - highest >= min(share, Self.progress) { (highest, failures) = (offset, 0) }
        let left = Self.maximumSent(plan.length) - taken
        guard left > 0 else {
            return fail(
                "The upload has \(plan.length) bytes, and \(taken) were sent for it.",
                hint: "Resume it later, or set a smaller options.chunkSize.")
        }
        state = .reading(offset)
        let wasCut = attempt?.isAnswered == false
        return .read(
            offset: offset, limit: min(plan.chunkSize, left, wasCut ? Self.chunkAfterCut : .max), plan.checksum)
    }

    /// The maximum size of the request after one that was cut. What lay in buffers when a connection ended was sent for
    /// nothing, so a connection has to prove itself first.
    private static let chunkAfterCut: Int64 = 1 << 20

    /// The bytes that count as progress after a cut, unless an eighth of the chunk is less. Fewer would let a server
    /// that keeps single bytes be asked for ever.
    private static let progress: Int64 = 64 << 10

    /// The maximum number of bytes that one call sends, whatever the server keeps: three times the content. Failures
    /// alone limit how often a small content is sent.
    static func maximumSent(_ length: Int64) -> Int64 {
        let (triple, overflow) = length.multipliedReportingOverflow(by: 3)
        return overflow ? .max : max(triple, 16 << 20)
    }

    mutating func end(_ action: Action) -> Action {
        state = .ended
        return action
    }

    private mutating func fail(
        _ detail: String, hint: String?, _ reason: NetworkError.Reason = .badResponse
    ) -> Action {
        end(.fail(NetworkError(reason, detail: detail, hint: hint)))
    }

    private func otherLength(_ length: Int64) -> NetworkError {
        NetworkError(
            .badResponse, detail: "The upload on the server has \(length) bytes, the source has \(plan.length).")
    }

    private mutating func take(_ headers: HTTPHeaders, at now: Date) -> TusState {
        let status = TusState(headers, at: now)
        if let expires = status.expires { self.expires = expires }
        return status
    }
}
