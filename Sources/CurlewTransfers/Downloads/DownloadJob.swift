// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// One download: what was asked for, and what its requests share.
final class DownloadJob: Sendable {
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
        /// How often the download began anew with another version of the file, or after a wrong digest.
        var restarts = 0
    }

    private static let mostRestarts = 3

    let client: APIClient
    let path: String
    let options: FileDownload.Options
    let meter: ProgressMeter?
    let time: any TimeSource
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

    var isFolder: Bool { path.utf8.last == UInt8(ascii: "/") }
    var route: any Route { state.withLock { $0.route } }
    var file: PartialFile? { state.withLock { $0.file } }
    var head: HTTPResponse? { state.withLock { $0.head } }
    /// The maximum number of digests that are kept.
    private static let mostDigests = 16

    var digests: [DigestField] { state.withLock { $0.digests } }
    var deadline: Deadline? { state.withLock { $0.deadline } }
    var resumed: Int64 { state.withLock { $0.resumed } }
    var usesRanges: Bool { state.withLock { $0.usesRanges } }
    var restarts: Int { state.withLock { $0.restarts } }
    /// Whether the route itself asks for a part of the file.
    var isPart: Bool { route.headers.contains(.range) }
    var canRestart: Bool { restarts < Self.mostRestarts }

    func replaceRoute(_ route: any Route) {
        state.withLock { $0.route = route }
    }

    func stopUsingRanges() {
        state.withLock { $0.usesRanges = false }
    }

    /// Counts a further version of the file. Throws if there were too many.
    func countRestart() throws(NetworkError) {
        let restarts = state.withLock { state in
            state.restarts += 1
            return state.restarts
        }
        guard restarts <= Self.mostRestarts else {
            throw NetworkError(
                .badResponse, detail: "The file changed on the server \(restarts) times while it was downloaded.",
                hint: "Try again later.")
        }
    }

    /// The first byte of a segment that is not written.
    func position(ofSegment index: Int) -> Int64 {
        file.flatMap { file in file.record.map { $0.segments[index].position } } ?? 0
    }

    /// The segments that an earlier download, or an earlier pass of this one, has not completed; nil without a file that
    /// can be continued.
    var missingSegments: [Int]? {
        guard let record = file?.record else { return nil }
        return record.segments.indices.filter { !record.segments[$0].isComplete }
    }

    /// Opens the partial file before the first request is sent, and notes what later requests need.
    func begin(_ request: HTTPRequest, _ context: ExchangeContext) throws(NetworkError) {
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
            throw FinalName.exists(target)
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

    /// Notes a response whose body is used.
    ///
    /// - `isComplete`: whether the body is the complete file, so that nothing of an earlier download is left.
    func note(_ response: HTTPResponse, isComplete: Bool) {
        // A digest of a decoded response is that of the encoded bytes.
        let fields = response.body.declaredLength == nil ? [] : ["Repr-Digest"] + (isComplete ? ["Content-Digest"] : [])
        let digests = fields.compactMap { response.headers[HTTPField.Name($0)].flatMap { DigestField($0) } }
        state.withLock { state in
            if isComplete {
                state.head = response
                state.digests = digests
                state.resumed = 0
            } else {
                state.head = state.head ?? response
                // Most parts repeat the digests of the file, and each one is verified at the end.
                let new = digests.filter { !state.digests.contains($0) }
                state.digests += new.prefix(Self.mostDigests - state.digests.count)
            }
        }
    }

    func suggestedName(_ response: HTTPResponse) -> String {
        DownloadName.downloadName(
            disposition: response.headers[.contentDisposition], url: response.url, mediaType: response.mediaType)
    }

    /// Returns an error with the request line and the name of the route.
    func described(_ error: any Error) -> NetworkError {
        var failure = NetworkError(error)
        let (line, name) = state.withLock { ($0.line, $0.routeName) }
        if failure.request == nil { failure.request = line }
        if failure.routeName == nil { failure.routeName = name }
        return failure
    }
}
