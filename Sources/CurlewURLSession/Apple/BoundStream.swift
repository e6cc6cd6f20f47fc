// SPDX-License-Identifier: MIT
// Written against Apple's documentation and type-checked on Linux against stubs (Scripts/apple); not run there.

#if canImport(Darwin)
import CurlewCore
import Foundation

/// A pair of bound streams: what is written to one is read from the other by URLSession.
///
/// A task pulls one chunk, writes what there is room for, and waits on the stream's own queue until there is more: the
/// producer is never more than one chunk and the pair's buffer ahead.
enum BoundStream {
    private static let buffer = 64 << 10

    /// The end for URLSession, filled by `pull`. `fail` hears of a producer that throws, or makes another length.
    static func make(
        length: Int64?, _ pull: @escaping @Sendable () -> ChunkPull, _ fail: @escaping @Sendable (NetworkError) -> Void
    ) -> InputStream? {
        var (input, output): (InputStream?, OutputStream?)
        Stream.getBoundStreams(withBufferSize: buffer, inputStream: &input, outputStream: &output)
        guard let input, let output else { return nil }
        // The call above puts both ends into one region, although they share nothing that is not locked.
        nonisolated(unsafe) let end = output
        let writer = StreamWriter(end)
        Task {
            do {
                try await fill(writer, length: length, pull())
            } catch {
                fail(NetworkError(error))
            }
            writer.close()
        }
        return input
    }

    private static func fill(_ writer: StreamWriter, length: Int64?, _ next: ChunkPull) async throws {
        var sent: Int64 = 0
        while let chunk = try await next() {
            sent += Int64(chunk.count)
            if let length, sent > length { throw UploadPlan.wrongLength("more", than: length) }
            var rest = chunk
            while !rest.isEmpty {
                guard let count = await writer.write(rest) else { return }
                rest = rest.dropFirst(count)
            }
        }
        if let length, sent < length { throw UploadPlan.wrongLength("fewer", than: length) }
    }
}

/// The end that is written to. Its state is touched on its queue only, which is also where the stream tells its events.
private final class StreamWriter: NSObject, StreamDelegate, Sendable {
    private struct State {
        let stream: OutputStream
        var waiting: CheckedContinuation<Void, Never>?

        /// Nobody reads any more.
        var isOver: Bool {
            switch stream.streamStatus {
            case .closed, .error, .atEnd: true
            default: false
            }
        }
    }

    private let state: Locked<State>
    private let queue = DispatchQueue(label: "curlew.urlsession.upload")

    init(_ stream: sending OutputStream) {
        state = Locked(State(stream: stream))
        super.init()
        state.withLock { state in
            state.stream.delegate = self
            CFWriteStreamSetDispatchQueue(state.stream, queue)
            state.stream.open()
        }
    }

    /// How many bytes there was room for; nil when nobody reads any more.
    func write(_ data: Data) async -> Int? {
        while true {
            let count = state.withLock { state -> Int? in
                if state.isOver { return -1 }
                guard state.stream.hasSpaceAvailable else { return nil }
                return data.withUnsafeBytes { bytes in
                    bytes.bindMemory(to: UInt8.self).baseAddress.map {
                        state.stream.write($0, maxLength: bytes.count)
                    } ?? 0
                }
            }
            if let count { return count > 0 ? count : nil }
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    // Its end may have come since the look above, and tells no second time.
                    if state.stream.hasSpaceAvailable || state.isOver { return true }
                    state.waiting = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        }
    }

    func close() {
        let waiting = state.withLock { state in
            state.stream.delegate = nil
            state.stream.close()
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume()
    }

    func stream(_ aStream: Stream, handle eventCode: Stream.Event) {
        let waiting = state.withLock { state in
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume()
    }
}
#endif
