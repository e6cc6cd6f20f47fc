// SPDX-License-Identifier: MIT

/// Answers that go to a file.
extension APIClient {
    /// How far a download has come: the bytes that are written, and how many there will be if the server tells and
    /// nothing is decoded on the way.
    ///
    /// Called with rising numbers, one call at a time, after each MiB or so and at the end, on the thread that writes:
    /// it holds up the download.
    public typealias DownloadProgress = @Sendable (_ received: Int64, _ expected: Int64?) -> Void

    /// Sends `route` and writes its answer to the file at `path` as it arrives. Gives the number of bytes, with status,
    /// headers and the URL that answered:
    ///
    ///     try await client.download(.export, to: "/var/exports/today.csv")
    ///
    /// The file appears when it is complete. It is written beside its place, under a name with `.part` at the end, and
    /// then replaces what is there; when the call fails, nothing has changed and the draft is removed. It gets the
    /// permissions of the file that it replaces, or those of any new file, and is not forced onto the disk. The folder
    /// has to exist.
    ///
    /// The status is checked before, as in `send`; that of a route to a `HTTPResponse` too. An answer that breaks off
    /// in its middle is not tried again. The total timeout covers the writing, and `Limits.download` (16 GiB by default)
    /// bounds it. Memory does not grow with the file.
    ///
    /// The calling task writes the file, chunk by chunk as they come: a slow disk slows this transfer down and no other.
    ///
    /// Throws `NetworkError`: `.storage` when the file cannot be written, before anything is sent if that shows by then.
    @concurrent @discardableResult
    public func download(
        _ route: some Route, to path: String, progress: DownloadProgress? = nil
    ) async throws(NetworkError) -> Response<Int64> {
        try await core.download(route, to: path, progress)
    }

    /// The same for an inline request, whatever it would be decoded to.
    @concurrent @discardableResult
    public func download<Value>(
        _ request: Request<Value>, to path: String, progress: DownloadProgress? = nil
    ) async throws(NetworkError) -> Response<Int64> {
        try await core.download(request, to: path, progress)
    }
}

extension APIClient.Core {
    fileprivate func download(
        _ route: some Route, to path: String, _ progress: APIClient.DownloadProgress?
    ) async throws(NetworkError) -> Response<Int64> {
        let call = try await begin(route, answer: HTTPResponse.self, nil) { options in
            options.streaming = true
            options.limits.responseBody = configuration.limits.overridden(by: options.limits).download
        }
        let file = try await draft(path, of: call)
        do throws(NetworkError) {
            return try await exchanger.exchange(call.request, in: call.context) { response in
                _ = try await check(response, call, HTTPResponse.self)
                let sink = CountingSink(file, expected: response.body.declaredLength, progress)
                try await response.body.drain(into: sink)
                try file.finish()
                return Response(sink.finish(), from: response)
            }
        } catch {
            file.discard()
            throw error
        }
    }

    private func draft(_ path: String, of call: PreparedCall) async throws(NetworkError) -> DraftFile {
        do throws(NetworkError) {
            return try DraftFile(for: path)
        } catch {
            var failure = error
            failure.request = RequestLine(call.request)
            failure.routeName = call.context.routeName
            call.context.record(.failed(failure, after: .zero))
            await call.context.eventsTold()
            throw failure
        }
    }
}

/// Counts what goes to a file, and tells of it.
private final class CountingSink: BodySink {
    private struct State {
        var count: Int64 = 0
        var told: Int64 = -1
    }

    private static let step: Int64 = 1 << 20
    private let file: DraftFile
    private let expected: Int64?
    private let progress: APIClient.DownloadProgress?
    private let state = Locked(State())

    init(_ file: DraftFile, expected: Int64?, _ progress: APIClient.DownloadProgress?) {
        self.file = file
        self.expected = expected
        self.progress = progress
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(NetworkError) {
        try file.write(bytes)
        tell(adding: Int64(bytes.count))
    }

    /// All has been written: how many bytes it was.
    func finish() -> Int64 {
        tell(adding: 0, isLast: true)
    }

    @discardableResult
    private func tell(adding added: Int64, isLast: Bool = false) -> Int64 {
        let (count, isDue) = state.withLock { state -> (Int64, Bool) in
            state.count += added
            let isDue = isLast ? state.told < state.count : state.count - state.told > Self.step
            if isDue { state.told = state.count }
            return (state.count, isDue)
        }
        if isDue { progress?(count, expected) }
        return count
    }
}
