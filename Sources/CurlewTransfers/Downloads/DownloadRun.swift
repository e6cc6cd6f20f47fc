// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import Dispatch

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Performs one download: requests the file or its missing parts, over one connection or several, until it is complete.
///
/// `Representation` and `DownloadVerdict` decide what a response means, `DownloadRetry` whether a failed request is
/// repeated, `PartialFile` holds the bytes.
final class DownloadRun: Sendable {
    private struct State {
        var route: any Route
        /// The file; nil until its path is known.
        var file: PartialFile?
        /// The first response, whose status and headers the caller receives.
        var head: HTTPResponse?
        /// The digests that the server has sent for the complete file.
        var digests: [DigestField] = []
        var deadline: Deadline?
        var line: NetworkError.RequestLine?
        var routeName: String?
        /// The bytes that an earlier download has left.
        var resumed: Int64 = 0
        /// Whether ranges are requested. False after a server has responded to one with something unusable.
        var usesRanges = true
    }

    /// How a request for the file or for a part of it ended.
    private enum Outcome {
        case done
        /// The first response was received over one connection, and other segments remain.
        case startAnew
        case withoutRanges
    }

    private static let mostRestarts = 3
    private static let mostRenewals = 5

    private let client: APIClient
    private let path: String
    private let options: FileDownload.Options
    private let meter: ProgressMeter?
    private let time: any TimeSource
    private let state: Locked<State>

    init(
        _ client: APIClient, _ route: some Route, to path: String, _ options: FileDownload.Options,
        _ progress: TransferProgress.Handler?
    ) {
        self.client = client
        self.path = path
        var options = options
        options.connections = min(max(1, options.connections), DownloadRecord.mostSegments)
        // A caller who asks for a part receives that part, in one piece.
        if route.headers.contains(.range) {
            options.connections = 1
            options.resumes = false
        }
        // An exchange in the background has one identifier.
        if route.options.backgroundIdentifier != nil { options.connections = 1 }
        self.options = options
        time = client.configuration.time
        meter = progress.map { ProgressMeter($0, time: client.configuration.time) }
        state = Locked(State(route: route))
    }

    private var isFolder: Bool { path.utf8.last == UInt8(ascii: "/") }

    func perform() async throws(NetworkError) -> Response<FileDownload.File> {
        defer { meter?.end() }
        do {
            let saved = try await receive()
            return saved
        } catch {
            var failure = NetworkError(error)
            let (file, line, name) = state.withLock { ($0.file, $0.line, $0.routeName) }
            if failure.request == nil { failure.request = line }
            if failure.routeName == nil { failure.routeName = name }
            // Without a record, nothing can be continued.
            if let file, !options.resumes || file.record == nil || !Self.isWorthKeeping(failure) { file.discard() }
            throw failure
        }
    }

    /// A response that says that the file does not exist, or that is too large, will not be continued.
    private static func isWorthKeeping(_ error: NetworkError) -> Bool {
        if case .limitExceeded = error.reason { return false }
        return ![404, 410].contains(error.statusCode ?? 0)
    }

    private func receive() async throws -> Response<FileDownload.File> {
        var (restarts, renewals) = (0, 0)
        while true {
            do {
                try await receiveSegments()
                if let saved = try await finish(canRestart: restarts < Self.mostRestarts) { return saved }
            } catch let error as NetworkError {
                guard let renewing = options.renewing, renewals < Self.mostRenewals,
                    [400, 401, 403, 404, 410].contains(error.statusCode ?? 0)
                else { throw error }
                renewals += 1
                let route = try await renewing()
                state.withLock { $0.route = route }
                continue
            } catch is Changed {
                // Another version begins below.
            }
            restarts += 1
            guard restarts <= Self.mostRestarts else {
                throw NetworkError(
                    .badResponse, detail: "The file changed on the server \(restarts) times while it was downloaded.",
                    hint: "Try again later.")
            }
            try state.withLock { $0.file }?.reset()
            meter?.restart()
        }
    }

    /// The file on the server is not the one whose first bytes were received.
    private struct Changed: Error {}

    /// Receives all segments that are not complete. Throws `Changed`, and the error of the first segment that fails.
    private func receiveSegments() async throws {
        if let missing = missingSegments() {
            return try await withThrowingTaskGroup(of: Void.self) { group in
                for index in missing { group.addTask { try await self.receive(segment: index) } }
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
            for await index in planned { group.addTask { try await self.receive(segment: index) } }
            for try await _ in group {}
        }
    }

    /// Returns the segments that an earlier download, or an earlier pass of this one, has not completed; nil without a
    /// file that can be continued.
    private func missingSegments() -> [Int]? {
        guard let record = state.withLock({ $0.file?.record }) else { return nil }
        return record.segments.indices.filter { !record.segments[$0].isComplete }
    }

    /// Receives one segment, over as many connections as it needs, one after the other.
    private func receive(segment index: Int, _ plan: AsyncStream<Int>.Continuation? = nil) async throws {
        var retry = DownloadRetry()
        while true {
            let before = position(ofSegment: index)
            do throws(NetworkError) {
                switch try await request(segment: index, plan) {
                case .done: return
                case .startAnew: throw NetworkError(.interceptor, underlying: Changed())
                case .withoutRanges:
                    state.withLock { $0.usesRanges = false }
                    throw NetworkError(.interceptor, underlying: Changed())
                }
            } catch {
                if error.underlying is Changed { throw Changed() }
                let file = state.withLock { $0.file }
                file?.keepPosition(ofSegment: index)
                let received = position(ofSegment: index) - before
                guard file?.record != nil,
                    let pause = retry.wait(after: error, received: received, random: .random(in: 0..<1))
                else { throw error }
                let end = state.withLock { $0.deadline } ?? .never
                let next = time.now.advanced(by: pause)
                guard !end.hasPassed(at: next) else { throw error }
                try await time.sleep(until: next)
            }
        }
    }

    private func position(ofSegment index: Int) -> Int64 {
        state.withLock { $0.file }.flatMap { file in file.record.map { $0.segments[index].position } } ?? 0
    }

    /// Requests the rest of a segment, or the complete file if nothing of it is known, and writes what is received.
    private func request(segment index: Int, _ plan: AsyncStream<Int>.Continuation?) async throws(NetworkError)
        -> Outcome
    {
        let route = state.withLock { $0.route }
        let wanted = Locked<(range: Range<Int64>, file: Representation)?>(nil)
        var changes = APIClient.CallChanges()
        changes.options = { [self] options in
            options.streaming = true
            options.limits.responseBody = client.configuration.limits.overridden(by: options.limits).download
            if let end = state.withLock({ $0.deadline }), let left = end.remaining(at: time.now) {
                options.timeouts.total = max(left, .zero)
            }
        }
        changes.request = { [self] request, context throws(NetworkError) in
            try begin(request, context)
            if request.headers[.acceptEncoding] == nil { request.headers[.acceptEncoding] = "identity" }
            let (file, usesRanges) = state.withLock { ($0.file, $0.usesRanges) }
            guard usesRanges, let record = file?.record, let condition = record.file.condition else { return }
            let segment = record.segments[index]
            let range = segment.position..<segment.end
            guard !range.isEmpty else { return }
            wanted.withLock { $0 = (range, record.file) }
            let isLast = segment.end == record.file.length
            request.headers[.range] = "bytes=\(range.lowerBound)-" + (isLast ? "" : "\(range.upperBound - 1)")
            request.headers["If-Range"] = condition
        }
        do throws(NetworkError) {
            return try await client.call(route, changing: changes) { [self] response, _ in
                try await take(response, wanted.withLock { $0 }, segment: index, plan)
            }
        } catch {
            // The file has become shorter than the part that was received.
            if error.statusCode == 416, wanted.withLock({ $0 != nil }) { return .startAnew }
            throw error
        }
    }

    /// Opens the partial file before the first request is sent, and notes what later requests need.
    private func begin(_ request: HTTPRequest, _ context: ExchangeContext) throws(NetworkError) {
        let isOpen = state.withLock { state in
            state.line = NetworkError.RequestLine(request)
            state.routeName = context.routeName
            if state.deadline == nil { state.deadline = context.totalDeadline }
            return state.file != nil
        }
        if isOpen { return }
        let identity = options.resumeKey ?? "\(request.method) \(request.urlString)"
        let key = MessageDigest.sha256(Data(identity.utf8)).hexText
        let target = isFolder ? nil : path
        if let target, options.existing == .fail, FileManager.default.fileExists(atPath: target) {
            throw PartialFile.exists(target)
        }
        if let target, Self.isNoFile(target) {
            throw NetworkError(.storage, detail: "\(target) exists and is not a regular file.", hint: "Name a file.")
        }
        let partial = isFolder ? path + "." + key.prefix(16) + ".part" : path + ".part"
        let file = try PartialFile(at: partial, target: target, key: key, resumes: options.resumes)
        let resumed = file.written
        state.withLock { state in
            state.file = file
            state.resumed = resumed
        }
        if let length = file.record?.file.length {
            meter?.setTotal(length)
            meter?.start(at: resumed)
        }
    }

    private static func isNoFile(_ path: String) -> Bool {
        var isFolder = false
        #if canImport(FoundationEssentials)
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder
        #else
        var answer: ObjCBool = false
        isFolder = FileManager.default.fileExists(atPath: path, isDirectory: &answer) && answer.boolValue
        return isFolder
        #endif
    }

    /// Writes the body of a response to the segment that it is for.
    private func take(
        _ response: HTTPResponse, _ wanted: (range: Range<Int64>, file: Representation)?, segment index: Int,
        _ plan: AsyncStream<Int>.Continuation?
    ) async throws -> Outcome {
        guard let file = state.withLock({ $0.file }) else { throw NetworkError(.storage) }
        let length = response.body.declaredLength
        let verdict =
            if let wanted {
                DownloadVerdict.judge(
                    part: wanted.range, of: wanted.file, response.status, response.headers, length: length)
            } else if client.isPart(state.withLock { $0.route }) {
                DownloadVerdict.complete(Representation(HTTPHeaders(), length: nil))
            } else {
                DownloadVerdict.judge(whole: response.status, response.headers, length: length)
            }
        var others: [Int] = []
        switch verdict {
        case .changed:
            return .startAnew
        case .unusable(let why):
            guard wanted != nil else { throw NetworkError(.badResponse, detail: why) }
            return .withoutRanges
        case .part:
            note(response)
        case .complete(let version):
            // Other segments are being received from the version that is gone.
            if let record = file.record, record.segments.count > 1 { return .startAnew }
            let connections = Self.acceptsRanges(response) && plan != nil ? options.connections : 1
            try file.begin(version, name: suggestedName(response), connections: connections)
            note(response, isComplete: true)
            state.withLock { $0.resumed = 0 }
            meter?.setTotal(version.length)
            if wanted == nil { meter?.start() } else { meter?.restart() }
            others = file.record.map { Array($0.segments.indices.dropFirst()) } ?? []
        }
        for other in others { plan?.yield(other) }
        plan?.finish()
        let sink = SegmentSink(file, index, meter)
        do {
            try await response.body.drain(into: sink)
        } catch {
            // The first response contains the bytes of the other segments too.
            guard sink.hasOverflown, !others.isEmpty else { throw error }
        }
        if let segment = file.record?.segments[index], !segment.isComplete {
            throw NetworkError(
                .connectionLost(.requestMayHaveArrived),
                detail: "The response ended \(segment.end - segment.position) bytes too early.")
        }
        return .done
    }

    private func note(_ response: HTTPResponse, isComplete: Bool = false) {
        // A digest of a decoded response is that of the encoded bytes.
        let fields = response.body.declaredLength == nil ? [] : ["Repr-Digest"] + (isComplete ? ["Content-Digest"] : [])
        let digests = fields.compactMap { response.headers[HTTPField.Name($0)].flatMap { DigestField($0) } }
        state.withLock { state in
            if isComplete {
                state.head = response
                state.digests = digests
            } else {
                state.head = state.head ?? response
                state.digests += digests
            }
        }
    }

    private static func acceptsRanges(_ response: HTTPResponse) -> Bool {
        response.headers["Accept-Ranges"].map { $0.lowercased().utf8.elementsEqual("bytes".utf8) } ?? false
    }

    private func suggestedName(_ response: HTTPResponse) -> String {
        DownloadName.downloadName(
            disposition: response.headers[.contentDisposition], url: response.url, mediaType: response.mediaType)
    }

    /// Checks the file and gives it its name. Returns nil if a continued file is damaged and must be received again.
    private func finish(canRestart: Bool) async throws -> Response<FileDownload.File>? {
        let (file, head, digests, resumed) = state.withLock { ($0.file, $0.head, $0.digests, $0.resumed) }
        guard let file, let head else {
            throw NetworkError(.storage, detail: "The download has no file.")
        }
        let count = file.written
        let name = file.record?.name ?? suggestedName(head)
        let target = isFolder ? path + name : path
        var expected = digests.compactMap(\.strongest).map { ($0.algorithm, $0.digest.hexText) }
        if let checksum = options.checksum { expected.append((checksum.algorithm, checksum.hex)) }
        let (existing, checks) = (options.existing, expected)
        let result = await Self.offQueue { () throws(NetworkError) -> String? in
            for (algorithm, hex) in checks {
                guard try file.digest(algorithm).hexText == hex else { return nil }
            }
            return try file.finish(as: target, existing)
        }
        guard let final = try result.get() else {
            if resumed > 0, canRestart { return nil }
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

extension APIClient {
    /// Whether the route itself asks for a part of the file.
    fileprivate func isPart(_ route: any Route) -> Bool { route.headers.contains(.range) }
}

/// Writes a body to a segment of a partial file. Ends the transfer behind the last byte of the segment.
private final class SegmentSink: BodySink {
    private let file: PartialFile
    private let index: Int
    private let meter: ProgressMeter?
    private let overflow = Locked(false)

    init(_ file: PartialFile, _ index: Int, _ meter: ProgressMeter?) {
        self.file = file
        self.index = index
        self.meter = meter
    }

    var hasOverflown: Bool { overflow.withLock { $0 } }

    func write(_ bytes: UnsafeRawBufferPointer) throws(NetworkError) {
        let count = try file.write(bytes, toSegment: index)
        meter?.add(Int64(count))
        guard count < bytes.count else { return }
        overflow.withLock { $0 = true }
        throw NetworkError(.badResponse, detail: "The response has more bytes than the requested part.")
    }
}
