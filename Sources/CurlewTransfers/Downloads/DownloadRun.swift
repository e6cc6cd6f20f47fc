// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP
import Dispatch

/// Performs one download: opens its partial file, then requests the file or the rest of it until it is complete.
///
/// `DownloadRequest` is one of its requests. `Representation` and `DownloadVerdict` decide what a response means,
/// `DownloadRetry` whether a failed request is repeated, `PartialFile` holds the bytes.
final class DownloadRun: Sendable {
    private struct State {
        /// The first response, whose status and headers the caller receives.
        var head: HTTPResponse?
        /// The digests that the server has sent for the complete file.
        var digests: [DigestField] = []
        var deadline: SystemTime.Deadline?
        /// The bytes that an earlier download has left.
        var resumed: Int64
        /// The number of times that the download began again with another version of the file, or after a wrong digest.
        var restarts = 0

        /// Adds digests. Most parts repeat those of the file, and each one is verified at the end.
        mutating func add(_ new: [DigestField]) {
            digests += new.filter { !digests.contains($0) }.prefix(maximumDigests - digests.count)
        }
    }

    private static let maximumRestarts = 3
    private static let maximumRenewals = 5
    private static let maximumDigests = 16

    let client: APIClient
    let file: PartialFile
    let meter: ProgressMeter?
    /// Whether the route itself requests a part of the file.
    let isPart: Bool
    private let path: String
    private let options: FileDownload.Options
    private let line: NetworkError.RequestLine
    private let state: Locked<State>

    /// Opens the partial file. Throws `.storage` if that is not possible, or if the target exists and must be kept.
    private init(
        _ client: APIClient, _ request: HTTPRequest, to path: String, _ options: FileDownload.Options,
        _ progress: TransferProgress.Handler?
    ) throws(NetworkError) {
        self.client = client
        self.path = path
        var options = options
        // A caller who asks for a part receives that part, in one piece.
        isPart = request.headers.contains(.range)
        if isPart { options.resumes = false }
        self.options = options
        line = NetworkError.RequestLine(request)
        let isFolder = path.utf8.last == UInt8(ascii: "/")
        if !isFolder { try FinalName.check(path, options.existing) }
        let identity = options.resumeKey ?? "\(request.method) \(request.urlString)"
        let key = MessageDigest.sha256(Data(identity.utf8)).hexText
        file = try PartialFile(
            at: isFolder ? path + "." + key.prefix(16) + ".part" : path + ".part", target: isFolder ? nil : path,
            key: key, resumes: options.resumes)
        state = Locked(State(resumed: file.position))
        meter = progress.map { ProgressMeter($0, time: client.configuration.time) }
        if let length = file.record?.length {
            meter?.setTotal(length)
            meter?.start(at: file.position)
        }
    }

    static func perform(
        _ client: APIClient, _ route: some Route, to path: String, _ options: FileDownload.Options,
        _ progress: TransferProgress.Handler?
    ) async throws(NetworkError) -> Response<FileDownload.File> {
        let run: DownloadRun
        do throws(NetworkError) {
            run = try DownloadRun(client, client.request(for: route), to: path, options, progress)
        } catch {
            // A call that ends before anything is sent: observers receive the error, and the error names the call.
            let failure = error
            let changes = APIClient.CallChanges(request: { _, _ throws(NetworkError) in throw failure })
            try await client.call(route, changing: changes) { _, _ in }
            throw failure
        }
        return try await run.perform(route)
    }

    private func perform(_ route: any Route) async throws(NetworkError) -> Response<FileDownload.File> {
        defer { meter?.end() }
        do {
            return try await receive(route)
        } catch {
            let failure = NetworkError(error).naming(line, route: route.name)
            // Without a record, nothing can be continued.
            if !options.resumes || file.record == nil || !Self.isWorthKeeping(failure) { file.discard() }
            throw failure
        }
    }

    /// A response that says that the file does not exist, or that is too large, will not be continued.
    private static func isWorthKeeping(_ error: NetworkError) -> Bool {
        if case .limitExceeded = error.reason { return false }
        return ![404, 410].contains(error.statusCode ?? 0)
    }

    /// Requests the file until it is complete, checked and named.
    private func receive(_ first: any Route) async throws -> Response<FileDownload.File> {
        var (route, renewals, usesRanges) = (first, 0, true)
        while true {
            let outcome: DownloadRequest.Outcome
            do throws(NetworkError) {
                outcome = try await request(route, usesRanges: usesRanges)
            } catch {
                guard let renewing = options.renewing, renewals < Self.maximumRenewals,
                    [400, 401, 403, 404, 410].contains(error.statusCode ?? 0)
                else { throw error }
                renewals += 1
                route = try await renewing()
                continue
            }
            switch outcome {
            case .complete(let head):
                if let saved = try await save(head) { return saved }
                try countRestart()
            case .changed: try countRestart()
            // Happens once: no range is requested any more.
            case .withoutRanges: usesRanges = false
            }
            try file.reset()
            meter?.restart()
        }
    }

    /// Requests the file or the rest of it, as often as `DownloadRetry` allows.
    private func request(_ route: any Route, usesRanges: Bool) async throws(NetworkError) -> DownloadRequest.Outcome {
        let time = client.configuration.time
        var retry = DownloadRetry()
        // Only bytes beyond the highest position are progress: a server without ranges starts over each time.
        var (version, highest) = (restarts, file.position)
        while true {
            do throws(NetworkError) {
                return try await DownloadRequest(self, usesRanges: usesRanges).perform(route)
            } catch {
                file.storePosition()
                if version != restarts { (version, highest) = (restarts, 0) }
                let received = file.position - highest
                highest = max(highest, file.position)
                guard file.record != nil,
                    let pause = retry.wait(after: error, received: received, random: .random(in: 0..<1))
                else { throw error }
                let next = time.now.advanced(by: pause)
                guard !(state.withLock { $0.deadline } ?? .never).hasPassed(at: next) else { throw error }
                do {
                    try await time.sleep(until: next)
                } catch {
                    throw NetworkError(error)
                }
            }
        }
    }

    /// Checks the file and gives it its name. Returns nil if a continued file is damaged and must be received again.
    private func save(_ head: HTTPResponse) async throws(NetworkError) -> Response<FileDownload.File>? {
        let (digests, resumed) = state.withLock { ($0.digests, $0.resumed) }
        let name = file.record?.name ?? Self.suggestedName(head)
        let target = path.utf8.last == UInt8(ascii: "/") ? path + name : path
        var checksums = digests.compactMap(\.strongest).map {
            FileDownload.Checksum(algorithm: $0.algorithm, hex: $0.digest.hexText)
        }
        if let checksum = options.checksum { checksums.append(checksum) }
        let final = await Self.offQueue { [file, checksums, options] () throws(NetworkError) -> String? in
            try file.matches(checksums) ? try file.name(target, options.existing) : nil
        }
        guard let saved = try final.get() else {
            if resumed > 0, restarts < Self.maximumRestarts { return nil }
            file.discard()
            throw NetworkError(
                .badResponse, detail: "The digest of the downloaded file is wrong.",
                hint: "The file is damaged, or is another file. Nothing was saved.")
        }
        let result = FileDownload.File(path: saved, byteCount: file.position, resumedByteCount: resumed)
        return Response(result, from: head)
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

    static func suggestedName(_ response: HTTPResponse) -> String {
        DownloadName.downloadName(
            disposition: response.headers[.contentDisposition], url: response.url, mediaType: response.mediaType)
    }
}

/// What the requests of a download share.
extension DownloadRun {
    private var restarts: Int { state.withLock { $0.restarts } }

    /// The rest of the total timeout, which bounds all requests and waits; nil before the first request.
    var timeLeft: Duration? {
        state.withLock { $0.deadline }?.remaining(at: client.configuration.time.now)
    }

    /// Keeps the deadline of the first request.
    func start(_ context: ExchangeContext) {
        state.withLock { $0.deadline = $0.deadline ?? context.totalDeadline }
    }

    /// Counts a further version of the file. Throws if there were too many.
    func countRestart() throws(NetworkError) {
        let restarts = state.withLock { state in
            state.restarts += 1
            return state.restarts
        }
        guard restarts <= Self.maximumRestarts else {
            throw NetworkError(
                .badResponse, detail: "The file changed on the server \(restarts) times while it was downloaded.",
                hint: "Try again later.")
        }
    }

    /// Notes a response whose body is used. Returns the one whose status and headers the caller receives.
    ///
    /// - `isComplete`: whether the body is the complete file, so that nothing of an earlier download is left.
    func note(_ response: HTTPResponse, isComplete: Bool) -> HTTPResponse {
        // A digest of a decoded response is that of the encoded bytes.
        let fields = response.body.declaredLength == nil ? [] : ["Repr-Digest"] + (isComplete ? ["Content-Digest"] : [])
        let digests = fields.compactMap { response.headers[HTTPField.Name($0)].flatMap { DigestField($0) } }
        return state.withLock { state in
            guard !isComplete, let head = state.head else {
                if isComplete { (state.digests, state.resumed) = ([], 0) }
                state.add(digests)
                state.head = response
                return response
            }
            state.add(digests)
            return head
        }
    }
}
