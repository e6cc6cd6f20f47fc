// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// One request of a download: for the complete file, or for the rest of a partial one. Writes what is received.
struct DownloadRequest: Sendable {
    enum Outcome: Sendable {
        /// The file is complete. The value is the response whose status and headers the caller receives.
        case complete(HTTPResponse)
        /// The file on the server is not the one whose first bytes were received.
        case changed
        /// The server does not respond to ranges as it should.
        case withoutRanges
    }

    /// The missing part of a partial file.
    struct Remainder {
        let range: Range<Int64>
        let file: Representation
        let condition: String
    }

    let run: DownloadRun
    private let remainder: Remainder?

    /// - `usesRanges`: whether the rest of a partial file is requested, or the complete file again.
    init(_ run: DownloadRun, usesRanges: Bool) {
        self.run = run
        guard usesRanges, let record = run.file.record, let condition = record.file.condition else {
            remainder = nil
            return
        }
        remainder = Remainder(range: run.file.position..<record.length, file: record.file, condition: condition)
    }

    func perform(_ route: any Route) async throws(NetworkError) -> Outcome {
        let (run, remainder) = (run, remainder)
        let changes = APIClient.CallChanges { options in
            options.streaming = true
            if remainder != nil { options.acceptedStatuses.insert(.rangeNotSatisfiable) }
            options.limits.responseBody = run.client.configuration.limits.overridden(by: options.limits).download
            if let left = run.timeLeft { options.timeouts.total = max(left, .zero) }
        } request: { request, context in
            run.start(context)
            if request.headers[.acceptEncoding] == nil { request.headers[.acceptEncoding] = "identity" }
            guard let remainder else { return }
            request.headers[.range] = "bytes=\(remainder.range.lowerBound)-"
            request.headers["If-Range"] = remainder.condition
        }
        return try await run.client.call(route, changing: changes) { response, _ in try await take(response) }
    }

    /// Appends the body of a response to the partial file, or replaces the content of the file with it.
    private func take(_ response: HTTPResponse) async throws -> Outcome {
        let head: HTTPResponse
        let verdict =
            run.isPart
            ? .complete(Representation(HTTPHeaders(), length: nil))
            : DownloadVerdict.evaluate(
                response.status, response.headers, length: response.body.declaredLength, remainder: remainder)
        switch verdict {
        case .changed:
            return .changed
        case .unusable(let why):
            guard remainder != nil else { throw NetworkError(.badResponse, detail: why) }
            return .withoutRanges
        case .part(let bytes):
            head = run.note(response, isComplete: false)
            let sink = DownloadSink(run.file, limit: Int64(bytes.count), run.meter)
            do {
                try await response.body.drain(into: sink)
            } catch {
                // The bytes are not those of the range that the head names.
                guard sink.hasOverflown else { throw error }
                return .withoutRanges
            }
        case .complete(let version):
            if let known = run.file.record?.file, !known.isSame(as: version) { try run.countRestart() }
            head = try await receive(version, response)
        }
        try run.file.checkLength()
        return .complete(head)
    }

    private func receive(_ version: Representation, _ response: HTTPResponse) async throws -> HTTPResponse {
        let file = run.file
        try file.begin(version, name: DownloadRun.suggestedName(response))
        let head = run.note(response, isComplete: true)
        run.meter?.setTotal(version.length)
        if remainder == nil { run.meter?.start() } else { run.meter?.restart() }
        let sink = DownloadSink(file, limit: version.length ?? .max, run.meter)
        do {
            try await response.body.drain(into: sink)
        } catch {
            // These bytes are not those that the head describes.
            if sink.hasOverflown { try file.reset() }
            throw error
        }
        return head
    }
}

/// Writes a body to a partial file. Ends the transfer after the last byte of the requested part.
private final class DownloadSink: BodySink {
    private let file: PartialFile
    private let meter: ProgressMeter?
    private let state: Locked<(room: Int64, hasOverflown: Bool)>

    /// - `limit`: the maximum number of bytes.
    init(_ file: PartialFile, limit: Int64, _ meter: ProgressMeter?) {
        self.file = file
        self.meter = meter
        state = Locked((limit, false))
    }

    /// Whether the body had more bytes than the requested part.
    var hasOverflown: Bool { state.withLock { $0.hasOverflown } }

    func write(_ bytes: UnsafeRawBufferPointer) throws(NetworkError) {
        let count = Int(min(Int64(bytes.count), state.withLock { $0.room }))
        try file.append(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
        meter?.add(Int64(count))
        state.withLock { state in
            state.room -= Int64(count)
            state.hasOverflown = count < bytes.count
        }
        guard count == bytes.count else {
            throw NetworkError(.badResponse, detail: "The response has more bytes than the requested part.")
        }
    }
}
