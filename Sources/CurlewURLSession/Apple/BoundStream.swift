// SPDX-License-Identifier: MIT
// Written against Apple's documentation and type-checked on Linux against stubs (Scripts/apple); not run there.

#if canImport(Darwin)
import CurlewCore
import Foundation

/// A pair of bound streams: what a `BodyFeed` writes to one is read from the other by URLSession.
enum BoundStream {
    private static let buffer = 64 << 10

    /// The end for URLSession, and what produces into the other one.
    static func make() -> (input: InputStream, feed: BodyFeed)? {
        var (input, output): (InputStream?, OutputStream?)
        Stream.getBoundStreams(withBufferSize: buffer, inputStream: &input, outputStream: &output)
        guard let input, let output else { return nil }
        // The call above puts both ends into one region, although they share nothing that is not locked.
        nonisolated(unsafe) let end = output
        return (input, BodyFeed(StreamWriter(end)))
    }
}

/// The end that is written to. Its state is touched on its queue only, which is also where the stream tells its events.
private final class StreamWriter: NSObject, StreamDelegate, UploadSink {
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
