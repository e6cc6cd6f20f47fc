// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// One request of a download: for the rest of a segment, or for the complete file if nothing of it is known. Writes
/// what is received.
struct SegmentRequest: Sendable {
    /// How a request ended.
    enum Outcome: Sendable {
        case done
        /// The file has changed, or was received over one connection while other segments remain.
        case startAnew
        /// The server does not respond to ranges as it should.
        case withoutRanges
    }

    private typealias Wanted = (range: Range<Int64>, file: Representation)

    let job: DownloadJob
    let index: Int
    /// Receives the segments that other connections should receive; nil if they are known.
    let plan: AsyncStream<Int>.Continuation?

    func perform() async throws(NetworkError) -> Outcome {
        let (job, index) = (job, index)
        let wanted = Locked<Wanted?>(nil)
        var changes = APIClient.CallChanges()
        changes.options = { options in
            options.streaming = true
            options.limits.responseBody = job.client.configuration.limits.overridden(by: options.limits).download
            if let left = job.deadline?.remaining(at: job.time.now) { options.timeouts.total = max(left, .zero) }
        }
        changes.request = { request, context throws(NetworkError) in
            try job.begin(request, context)
            if request.headers[.acceptEncoding] == nil { request.headers[.acceptEncoding] = "identity" }
            guard job.usesRanges, let record = job.file?.record, let condition = record.file.condition else { return }
            let segment = record.segments[index]
            let range = segment.position..<segment.end
            guard !range.isEmpty else { return }
            wanted.withLock { $0 = (range, record.file) }
            let isLast = segment.end == record.file.length
            request.headers[.range] = "bytes=\(range.lowerBound)-" + (isLast ? "" : "\(range.upperBound - 1)")
            request.headers[.ifRange] = condition
        }
        do throws(NetworkError) {
            return try await job.client.call(job.route, changing: changes) { response, _ in
                try await take(response, wanted.withLock { $0 })
            }
        } catch {
            guard error.statusCode == 416, let wanted = wanted.withLock({ $0 }) else { throw error }
            let verdict = DownloadVerdict.judge(unsatisfied: error.response?.headers ?? [:], of: wanted.file)
            return verdict == .changed ? .startAnew : .withoutRanges
        }
    }

    /// Writes the body of a response to the segment that it is for.
    private func take(_ response: HTTPResponse, _ wanted: Wanted?) async throws -> Outcome {
        guard let file = job.file else { throw NetworkError(.storage) }
        switch verdict(response, wanted) {
        case .changed:
            return .startAnew
        case .unusable(let why):
            guard wanted != nil else { throw NetworkError(.badResponse, detail: why) }
            return .withoutRanges
        case .part(let bytes):
            job.note(response, isComplete: false)
            plan?.finish()
            let sink = SegmentSink(file, index, limit: Int64(bytes.count), job.meter)
            do {
                try await response.body.drain(into: sink)
            } catch {
                // The bytes are not those of the range that the head names.
                guard sink.hasOverflown else { throw error }
                return .withoutRanges
            }
        case .complete(let version):
            let isNew = file.record.map { !$0.file.isSame(as: version) } ?? false
            // Other segments are being received, perhaps from a version that is gone.
            if let record = file.record, record.segments.count > 1 { return isNew ? .startAnew : .withoutRanges }
            if isNew { try job.countRestart() }
            try await receive(version, response, file, isFirst: wanted == nil)
        }
        if let segment = file.record?.segments[index], !segment.isComplete {
            throw Self.early(segment.end - segment.position)
        }
        return .done
    }

    private func verdict(_ response: HTTPResponse, _ wanted: Wanted?) -> DownloadVerdict {
        let length = response.body.declaredLength
        if let wanted {
            return .judge(part: wanted.range, of: wanted.file, response.status, response.headers, length: length)
        }
        if job.isPart { return .complete(Representation(HTTPHeaders(), length: nil)) }
        return .judge(whole: response.status, response.headers, length: length)
    }

    /// Writes a complete file, or its first segment while other connections receive the others.
    private func receive(
        _ version: Representation, _ response: HTTPResponse, _ file: PartialFile, isFirst: Bool
    ) async throws {
        let isDivided = plan != nil && job.usesRanges && Self.acceptsRanges(response)
        try file.begin(
            version, name: job.suggestedName(response), connections: isDivided ? job.options.connections : 1)
        job.note(response, isComplete: true)
        job.meter?.setTotal(version.length)
        if isFirst { job.meter?.start() } else { job.meter?.restart() }
        let others = file.record.map { Array($0.segments.indices.dropFirst()) } ?? []
        for other in others { plan?.yield(other) }
        plan?.finish()
        let sink = SegmentSink(file, index, limit: .max, job.meter)
        do {
            try await response.body.drain(into: sink)
        } catch {
            guard sink.hasOverflown else { throw error }
            // The first response contains the bytes of the other segments too.
            if !others.isEmpty { return }
            try file.reset()
            throw error
        }
        if file.record == nil, let length = version.length, file.written < length {
            throw Self.early(length - file.written)
        }
    }

    private static func early(_ missing: Int64) -> NetworkError {
        NetworkError(
            .connectionLost(.requestMayHaveArrived), detail: "The response ended \(missing) bytes too early.")
    }

    private static func acceptsRanges(_ response: HTTPResponse) -> Bool {
        response.headers["Accept-Ranges"].map { $0.lowercased().utf8.elementsEqual("bytes".utf8) } ?? false
    }
}
