// SPDX-License-Identifier: MIT

#if os(Linux)
import CurlewCore
import CurlewHTTP
import CurlewFoundation

/// A request body that an asynchronous producer creates while the transport sends it.
///
/// A task pulls one chunk, waits until libcurl has taken all of it, and pulls the next: the producer is never more than
/// one chunk ahead. While there are no bytes, libcurl is paused.
///
/// With a declared length, the last byte is held back until the producer ends. libcurl never requests more than the
/// declared length, and newer versions truncate a longer body, so the server would treat an incomplete body as
/// complete.
final class StreamUpload: Upload {
    private struct State {
        var chunk = Data()
        var hasEnded = false
        var failure: NetworkError?
        var trailers = HTTPHeaders()
        var sent: Int64 = 0
        var isCurlWaiting = false
        var producer: UnsafeContinuation<Void, Never>?
        var isClosed = false
    }

    let length: Int64?
    private let makeTrailers: RequestBody.Trailers?
    private let pull: @Sendable () -> ChunkPull
    private let state = Locked(State())
    private let pump = Locked<Task<Void, Never>?>(nil)

    init(length: Int64?, trailers: RequestBody.Trailers? = nil, pull: @escaping @Sendable () -> ChunkPull) {
        self.length = length
        makeTrailers = trailers
        self.pull = pull
    }

    func begin(resume: @escaping @Sendable () -> Void) {
        let task = Task { await produce(resume: resume) }
        pump.withLock { $0 = task }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> UploadStep {
        let (step, producer) = state.withLock { state -> (UploadStep, UnsafeContinuation<Void, Never>?) in
            if let failure = state.failure { return (.failed(failure), nil) }
            let available = state.chunk.count - (mustKeepLast(of: state) ? 1 : 0)
            guard available > 0 else {
                if state.hasEnded { return (lastStep(after: state.sent), nil) }
                state.isCurlWaiting = true
                return (.wait, nil)
            }
            let count = min(buffer.count, available)
            state.chunk.prefix(count).copyBytes(to: buffer)
            state.chunk = count == state.chunk.count ? Data() : state.chunk.dropFirst(count)
            state.sent += Int64(count)
            guard state.chunk.isEmpty else { return (.bytes(count), nil) }
            defer { state.producer = nil }
            return (.bytes(count), state.producer)
        }
        producer?.resume()
        return step
    }

    /// Returns whether libcurl has taken none of the bytes, which are then still available. A stream cannot be rewound
    /// otherwise: pulling again might not produce the same bytes, so a retry uses a new transfer.
    func rewind() -> Bool { state.withLock { $0.sent == 0 } }

    var trailers: HTTPHeaders { state.withLock { $0.trailers } }

    func end() {
        let producer = state.withLock { state -> UnsafeContinuation<Void, Never>? in
            state.isClosed = true
            defer { state.producer = nil }
            return state.producer
        }
        pump.withLock { $0 }?.cancel()
        producer?.resume()
    }

    private func mustKeepLast(of state: State) -> Bool {
        !state.hasEnded && !state.chunk.isEmpty && isComplete(state)
    }

    /// Returns whether the producer has produced all declared bytes, so that only its end is missing. False if no
    /// length is declared.
    private func isComplete(_ state: State) -> Bool {
        length.map { state.sent + Int64(state.chunk.count) >= $0 } ?? false
    }

    private func lastStep(after sent: Int64) -> UploadStep {
        guard let length, sent < length else { return .end }
        return .failed(Self.wrongLength("fewer", than: length))
    }

    private func produce(resume: @escaping @Sendable () -> Void) async {
        let next = pull()
        while true {
            let chunk: Data?
            var failure: NetworkError?
            do {
                chunk = try await next()
            } catch {
                chunk = nil
                failure = NetworkError(.encoding, detail: "The body stream failed: \(error)", underlying: error)
            }
            var trailers = HTTPHeaders()
            if chunk == nil, failure == nil, let makeTrailers {
                do throws(NetworkError) { trailers = try await makeTrailers.fields() } catch { failure = error }
            }
            if chunk?.isEmpty == true, !state.withLock({ $0.isClosed }) { continue }
            let (mustResume, isOver, mustWait) = state.withLock { state -> (Bool, Bool, Bool) in
                // One byte of the previous chunk may be left, if it was the last declared byte.
                if let chunk { state.chunk = state.chunk.isEmpty ? chunk : state.chunk + chunk }
                state.hasEnded = chunk == nil
                state.failure = failure
                state.trailers = trailers
                if let length, state.sent + Int64(state.chunk.count) > length {
                    state.failure = Self.wrongLength("more", than: length)
                }
                defer { state.isCurlWaiting = false }
                let isOver = chunk == nil || state.isClosed || state.failure != nil
                return (state.isCurlWaiting, isOver, !isComplete(state))
            }
            if mustResume { resume() }
            if isOver { return }
            if mustWait { await roomForMore() }
        }
    }

    private func roomForMore() async {
        await withUnsafeContinuation { continuation in
            let mayResume = state.withLock { state in
                if state.chunk.isEmpty || state.isClosed { return true }
                state.producer = continuation
                return false
            }
            if mayResume { continuation.resume() }
        }
    }

    private static func wrongLength(_ word: String, than length: Int64) -> NetworkError {
        NetworkError(.encoding, detail: "The body stream produced \(word) bytes than its declared length of \(length).")
    }
}
#endif
