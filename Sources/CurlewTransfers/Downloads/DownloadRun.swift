// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import Dispatch

/// Performs one download: requests the file or its missing parts, over one connection or several, until it is complete.
///
/// `DownloadJob` has what its requests share, `SegmentRequest` is one of them. `Representation` and `DownloadVerdict`
/// decide what a response means, `DownloadRetry` whether a failed request is repeated, `PartialFile` holds the bytes.
struct DownloadRun: Sendable {
    private static let mostRenewals = 5

    private let job: DownloadJob

    init(
        _ client: APIClient, _ route: some Route, to path: String, _ options: FileDownload.Options,
        _ progress: TransferProgress.Handler?
    ) {
        job = DownloadJob(client, route, to: path, options, progress)
    }

    func perform() async throws(NetworkError) -> Response<FileDownload.File> {
        defer { job.meter?.end() }
        do {
            let saved = try await receive()
            return saved
        } catch {
            let failure = job.described(error)
            // Without a record, nothing can be continued.
            if let file = job.file, !job.options.resumes || file.record == nil || !Self.isWorthKeeping(failure) {
                file.discard()
            }
            throw failure
        }
    }

    /// A response that says that the file does not exist, or that is too large, will not be continued.
    private static func isWorthKeeping(_ error: NetworkError) -> Bool {
        if case .limitExceeded = error.reason { return false }
        return ![404, 410].contains(error.statusCode ?? 0)
    }

    /// Why the segments are received from the start.
    private enum Restart: Error {
        /// The file on the server is not the one whose first bytes were received.
        case changed
        case withoutRanges
    }

    private func receive() async throws -> Response<FileDownload.File> {
        var renewals = 0
        while true {
            do {
                try await receiveSegments()
                if let saved = try await finish() { return saved }
                try job.countRestart()
            } catch let error as NetworkError {
                guard let renewing = job.options.renewing, renewals < Self.mostRenewals,
                    [400, 401, 403, 404, 410].contains(error.statusCode ?? 0)
                else { throw error }
                renewals += 1
                job.replaceRoute(try await renewing())
                continue
            } catch let restart as Restart {
                switch restart {
                case .changed: try job.countRestart()
                // Happens once: no range is requested any more.
                case .withoutRanges: job.stopUsingRanges()
                }
            }
            try job.file?.reset()
            job.meter?.restart()
        }
    }

    /// Receives all segments that are not complete. Throws `Restart`, and the error of the first segment that fails.
    private func receiveSegments() async throws {
        if let missing = job.missingSegments {
            return try await withThrowingTaskGroup(of: Void.self) { group in
                for index in missing { group.addTask { try await self.receive(segment: index, nil) } }
                for try await _ in group {}
            }
        }
        // The first response tells how many segments there are.
        let (planned, plan) = AsyncStream.makeStream(of: Int.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { plan.finish() }
                try await self.receive(segment: 0, plan)
            }
            for await index in planned { group.addTask { try await self.receive(segment: index, nil) } }
            for try await _ in group {}
        }
    }

    /// Receives one segment, over as many connections as it needs, one after the other.
    private func receive(segment index: Int, _ plan: AsyncStream<Int>.Continuation?) async throws {
        var retry = DownloadRetry()
        // Only bytes beyond the highest position are progress: a server without ranges starts over each time.
        var (version, highest) = (job.restarts, job.position(ofSegment: index))
        while true {
            do throws(NetworkError) {
                switch try await SegmentRequest(job: job, index: index, plan: plan).perform() {
                case .done: return
                case .startAnew: throw NetworkError(.interceptor, underlying: Restart.changed)
                case .withoutRanges: throw NetworkError(.interceptor, underlying: Restart.withoutRanges)
                }
            } catch {
                if let restart = error.underlying as? Restart { throw restart }
                let file = job.file
                file?.keepPosition(ofSegment: index)
                if version != job.restarts { (version, highest) = (job.restarts, 0) }
                let position = job.position(ofSegment: index)
                let received = position - highest
                highest = max(highest, position)
                guard file?.record != nil,
                    let pause = retry.wait(after: error, received: received, random: .random(in: 0..<1))
                else { throw error }
                let next = job.time.now.advanced(by: pause)
                guard !(job.deadline ?? .never).hasPassed(at: next) else { throw error }
                try await job.time.sleep(until: next)
            }
        }
    }

    /// Checks the file and gives it its name. Returns nil if a continued file is damaged and must be received again.
    private func finish() async throws -> Response<FileDownload.File>? {
        guard let file = job.file, let head = job.head else {
            throw NetworkError(.storage, detail: "The download has no file.")
        }
        let (count, resumed) = (file.written, job.resumed)
        let name = file.record?.name ?? job.suggestedName(head)
        let target = job.isFolder ? job.path + name : job.path
        var expected = job.digests.compactMap(\.strongest).map { ($0.algorithm, $0.digest.hexText) }
        if let checksum = job.options.checksum { expected.append((checksum.algorithm, checksum.hex)) }
        let (existing, checks) = (job.options.existing, expected)
        let result = await Self.offQueue { () throws(NetworkError) -> String? in
            for (algorithm, hex) in checks {
                guard try file.digest(algorithm).hexText == hex else { return nil }
            }
            return try file.finish(as: target, existing)
        }
        guard let final = try result.get() else {
            if resumed > 0, job.canRestart { return nil }
            file.discard()
            throw NetworkError(
                .badResponse, detail: "The downloaded file has another digest than expected.",
                hint: "The file is damaged or is not the one that was meant. Nothing was saved.")
        }
        return Response(FileDownload.File(path: final, byteCount: count, resumedByteCount: resumed), from: head)
    }

    /// Runs work that blocks for long, such as synchronizing a disk, outside of the threads that run tasks.
    private static func offQueue<Value: Sendable>(
        _ work: @escaping @Sendable () throws(NetworkError) -> Value
    ) async -> Result<Value, NetworkError> {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(returning: Result { () throws(NetworkError) in try work() })
            }
        }
    }
}
