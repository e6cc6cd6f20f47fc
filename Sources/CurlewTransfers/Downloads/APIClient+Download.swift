// SPDX-License-Identifier: MIT

public import CurlewCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Responses that are written to a file.
extension APIClient {
    /// Reports the progress of a download: the bytes written, and the expected total if the server declares it and the
    /// body is not decoded.
    ///
    /// Called with increasing numbers, one call at a time, about once per MiB and at the end. It runs on the thread
    /// that writes and blocks the download.
    public typealias DownloadProgress = @Sendable (_ received: Int64, _ expected: Int64?) -> Void

    /// Sends `route` and writes its response to the file at `path` as it arrives. Returns the number of bytes, with
    /// status, headers and the final URL:
    ///
    ///     try await client.download(.export, to: "/var/exports/today.csv")
    ///
    /// The file appears when it is complete. A draft is written in the same folder, under a name that ends in `.part`,
    /// and then replaces an existing file. If the call fails, an existing file is unchanged and the draft is removed.
    /// The file has the permissions of the file that it replaces, or the default ones, and is not synchronized to the
    /// disk. The folder must exist.
    ///
    /// The status is checked before, as in `send`, also for a route to an `HTTPResponse`. A response that breaks off is
    /// not retried. The total timeout includes writing, and `Limits.download` (16 GiB by default) bounds it. Memory
    /// does not grow with the file.
    ///
    /// The calling task writes each chunk as it arrives. A slow disk delays only this transfer.
    ///
    /// Throws `NetworkError`: `.storage` when the file cannot be written, before anything is sent if that can be
    /// detected by then.
    @concurrent @discardableResult
    public func download(
        _ route: some Route, to path: String, progress: DownloadProgress? = nil
    ) async throws(NetworkError) -> Response<Int64> {
        try await written(route, to: path, progress)
    }

    /// Downloads the response to an inline request, whatever its value type is.
    @concurrent @discardableResult
    public func download<Value>(
        _ request: Request<Value>, to path: String, progress: DownloadProgress? = nil
    ) async throws(NetworkError) -> Response<Int64> {
        try await written(request, to: path, progress)
    }

    /// Sends `route` and writes its response to the file at a file URL. Throws `.invalidRequest` for any other URL.
    @concurrent @discardableResult
    public func download(
        _ route: some Route, to file: URL, progress: DownloadProgress? = nil
    ) async throws(NetworkError) -> Response<Int64> {
        try await written(route, to: try file.filePath(), progress)
    }

    /// Downloads the response to an inline request to a file URL.
    @concurrent @discardableResult
    public func download<Value>(
        _ request: Request<Value>, to file: URL, progress: DownloadProgress? = nil
    ) async throws(NetworkError) -> Response<Int64> {
        try await written(request, to: try file.filePath(), progress)
    }
}

extension APIClient {
    private func written(
        _ route: some Route, to path: String, _ progress: APIClient.DownloadProgress?
    ) async throws(NetworkError) -> Response<Int64> {
        let draft = Locked<PartialFile?>(nil)
        var changes = CallChanges()
        changes.options = { options in
            options.streaming = true
            options.limits.responseBody = configuration.limits.overridden(by: options.limits).download
        }
        changes.request = { (_, _) throws(NetworkError) in
            let file = try PartialFile(for: path)
            draft.withLock { $0 = file }
        }
        do throws(NetworkError) {
            return try await call(route, changing: changes) { response, _ in
                guard let file = draft.withLock({ $0 }) else { throw NetworkError(.storage) }
                let sink = CountingSink(file, expected: response.body.declaredLength, progress)
                try await response.body.drain(into: sink)
                try file.finish()
                return Response(sink.finish(), from: response)
            }
        } catch {
            draft.withLock { $0 }?.discard()
            throw error
        }
    }
}

/// Counts the bytes that are written to a file, and reports the progress.
private final class CountingSink: BodySink {
    private struct State {
        var count: Int64 = 0
        var reported: Int64 = -1
    }

    private static let step: Int64 = 1 << 20
    private let file: PartialFile
    private let expected: Int64?
    private let progress: APIClient.DownloadProgress?
    private let state = Locked(State())

    init(_ file: PartialFile, expected: Int64?, _ progress: APIClient.DownloadProgress?) {
        self.file = file
        self.expected = expected
        self.progress = progress
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(NetworkError) {
        try file.write(bytes)
        report(adding: Int64(bytes.count))
    }

    /// Reports the final progress and returns the number of bytes.
    func finish() -> Int64 {
        report(adding: 0, isLast: true)
    }

    @discardableResult
    private func report(adding added: Int64, isLast: Bool = false) -> Int64 {
        let (count, isDue) = state.withLock { state -> (Int64, Bool) in
            state.count += added
            let isDue = isLast ? state.reported < state.count : state.count - state.reported > Self.step
            if isDue { state.reported = state.count }
            return (state.count, isDue)
        }
        if isDue { progress?(count, expected) }
        return count
    }
}
