// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// The requests of one upload: creates it, requests the offset, sends a chunk, and verifies the bytes on the server.
///
/// Without a URL the upload is created; without an offset, the offset is requested. There is one request at a time, so
/// two requests never transfer the same upload. After a failure, the upload continues at the server's offset.
struct UploadRun {
    private let session: UploadSession
    private let meter: BodyMeter
    private let chunkSize: Int64
    private var failures: UploadFailures
    private var descriptor: Upload.Descriptor
    /// The offset that the server has confirmed; nil if it must be requested.
    private var offset: Int64?
    /// The offset of the last progress.
    private var highest: Int64 = -1
    private var hasRestarted = false
    /// The last chunk, and whether it received a successful response that has not been evaluated yet.
    private var attempt: (start: Int64, count: Int64, isAnswered: Bool)?
    /// The end of what was sent; nil for a resumed upload, whose earlier requests are unknown.
    private var sent: Int64?
    /// The response that has completed the upload, unless the offset was requested since.
    private var completion: Response<Data>?

    private var length: Int64 { descriptor.length }

    init(_ session: UploadSession, _ descriptor: Upload.Descriptor, _ meter: BodyMeter) {
        self.session = session
        self.descriptor = descriptor
        self.meter = meter
        let options = session.options
        chunkSize = max(1, options.chunkSize ?? .max)
        failures = UploadFailures(options, session.time)
    }

    /// Transfers the source to its end.
    mutating func perform() async throws(NetworkError) -> Upload.Result {
        if descriptor.url != nil, let expires = descriptor.expires, expires <= session.time.date {
            try restart(because: NetworkError(.status(.gone)))
        }
        while true {
            guard let url = descriptor.url else {
                try await create()
                continue
            }
            guard let offset else {
                try await locate(url)
                continue
            }
            guard offset < length else {
                meter.move(to: offset)
                return Upload.Result(url: url, length: offset, response: completion)
            }
            try await append(at: offset, to: url)
        }
    }

    private mutating func create() async throws(NetworkError) {
        sent = 0
        let response: Response<Data>
        do throws(NetworkError) {
            response = try await session.requests.create(length: length, descriptor.metadata)
        } catch {
            return try await recover(from: error)
        }
        guard let location = response.headers[.location] else {
            throw NetworkError(
                .badResponse, detail: "The server created an upload without a Location field.",
                hint: "Check that the URL is the one that creates uploads.")
        }
        let url = try Self.resolve(location, against: response.url)
        session.claim.take(url)
        try keep(url, expires: TusState(response.headers, at: session.time.date).expires)
        completion = response
        try await advance(to: 0)
    }

    private mutating func locate(_ url: String) async throws(NetworkError) {
        let response: Response<Data>
        do throws(NetworkError) {
            response = try await session.requests.locate(url)
        } catch {
            return try await recover(from: error)
        }
        completion = nil
        let state = try take(response)
        // A portal of a network answers everything with its own page.
        guard let found = state.offset else {
            let error = NetworkError(.badResponse, detail: "The server did not report the offset of the upload.")
            return try await failures.wait(after: error)
        }
        if let other = state.length, other != length { return try restart(because: otherLength(other)) }
        try await advance(to: found)
    }

    private mutating func append(at start: Int64, to url: String) async throws(NetworkError) {
        let left = Self.maximumSent(length) - meter.taken
        guard left > 0 else {
            throw NetworkError(
                .badResponse, detail: "\(meter.taken) bytes were sent for an upload of \(length) bytes.",
                hint: "Resume it later, or set a smaller options.chunkSize.")
        }
        let wasCut = attempt?.isAnswered == false
        if start != attempt.map({ $0.start + $0.count }) { meter.move(to: start) }
        let (chunk, count) = try session.reader.read(
            at: start, limit: min(chunkSize, left, wasCut ? Self.chunkAfterCut : .max))
        offset = nil
        sent = max(sent ?? 0, start + count)
        attempt = (start, count, false)
        let response: Response<Data>
        do throws(NetworkError) {
            let body = meter.counting(chunk, at: start, length: count)
            response = try await session.requests.append(body, at: start, to: url)
        } catch {
            // The server has another offset than this client assumes: an earlier request has arrived after all.
            guard error.statusCode == 409 else { return try await recover(from: error) }
            return try failures.add(error)
        }
        completion = response
        attempt?.isAnswered = true
        // Something else than the upload may have responded, such as a portal of a network.
        if let found = try take(response).offset { try await advance(to: found) }
    }

    /// Continues at the offset that the server has.
    private mutating func advance(to found: Int64) async throws(NetworkError) {
        guard found <= length else { return try restart(because: otherLength(found)) }
        if let sent, found > sent {
            throw NetworkError(
                .badResponse, detail: "The server has \(found) bytes of the upload; \(sent) were sent.",
                hint: "Another client may write to the same upload.")
        }
        sent = max(sent ?? found, found)
        let share = max(1, (attempt?.count ?? 0) / 8)
        if found < length, let attempt, attempt.isAnswered, found - attempt.start < share {
            self.attempt?.isAnswered = false
            highest = max(highest, found)
            let error = NetworkError(
                .badResponse, detail: "The server accepted a part of the upload, but kept almost none of it.")
            return try await failures.wait(after: error)
        }
        if found - highest >= min(share, Self.progress) {
            highest = found
            failures.clear()
        }
        offset = found
    }

    /// The maximum size of the request after a lost connection, because the bytes in the buffers of a lost connection
    /// must be sent again.
    private static let chunkAfterCut: Int64 = 1 << 20

    /// The number of bytes that counts as progress after a lost connection, unless an eighth of the chunk is less. With
    /// a lower number, a server that keeps single bytes would receive requests forever.
    private static let progress: Int64 = 64 << 10

    /// The maximum number of bytes that one call sends, whatever the server keeps: three times the content. Failures
    /// alone limit how often a small content is sent.
    static func maximumSent(_ length: Int64) -> Int64 {
        let (triple, overflow) = length.multipliedReportingOverflow(by: 3)
        return overflow ? .max : max(triple, 16 << 20)
    }

    // MARK: After a failure

    /// Waits until the upload can continue after a failure, or throws the failure.
    private mutating func recover(from error: NetworkError) async throws(NetworkError) {
        guard case .status(let status) = error.reason else {
            guard error.isRetryable else { throw error }
            return try await failures.wait(after: error)
        }
        switch status.code {
        case 404 where descriptor.url != nil, 410 where descriptor.url != nil: try restart(because: error)
        case 412: throw error.advised("The server does not support this version of the protocol.")
        case 413: throw error.advised("The request was too large. Set a smaller options.chunkSize.")
        case 501, 505: throw error
        default:
            guard status.code == 423 || (500...599).contains(status.code) || error.isRetryable else { throw error }
            try await failures.wait(after: error)
        }
    }

    /// Starts again, once, because the server has lost the upload.
    private mutating func restart(because error: NetworkError) throws(NetworkError) {
        guard !hasRestarted else { throw error.advised("The server lost the upload twice. Start a new upload.") }
        hasRestarted = true
        try keep(nil, expires: nil)
        highest = -1
        attempt = nil
    }

    private func otherLength(_ other: Int64) -> NetworkError {
        NetworkError(.badResponse, detail: "The upload on the server has \(other) bytes, the source has \(length).")
    }

    // MARK: The descriptor

    private mutating func take(_ response: Response<Data>) throws(NetworkError) -> TusState {
        let state = TusState(response.headers, at: session.time.date)
        if let expires = state.expires { try keep(descriptor.url, expires: expires) }
        return state
    }

    private mutating func keep(_ url: String?, expires: Date?) throws(NetworkError) {
        guard url != descriptor.url || Self.differs(expires, descriptor.expires) else { return }
        (descriptor.url, descriptor.expires) = (url, expires)
        try session.store.save(descriptor)
    }

    /// Whether an expiration has moved so far that the descriptor must be updated. Relative ones move a little with
    /// each response.
    private static func differs(_ date: Date?, _ known: Date?) -> Bool {
        guard let date, let known else { return date != known }
        return abs(date.timeIntervalSince(known)) > 60
    }

    /// Returns the absolute URL of `location`. A server must not move an upload from https to http.
    private static func resolve(_ location: String, against base: String) throws(NetworkError) -> String {
        do {
            let asked = try URLParts(base)
            let parts = try URLParts(resolving: location, against: asked.origin, target: asked.target)
            guard parts.userinfo == nil else { throw URLProblem("contains a user name or password") }
            guard parts.origin.isSecure || !asked.origin.isSecure else {
                throw URLProblem("is not encrypted, but the request was; behind a proxy, tell the server its scheme")
            }
            return parts.origin.description + parts.target
        } catch {
            let message = (error as? URLProblem)?.message ?? "cannot be read"
            throw NetworkError(.badResponse, detail: "The Location of the upload \(message).")
        }
    }
}
