// SPDX-License-Identifier: MIT
// Written against Apple's documentation. On Linux it is type-checked (Scripts/apple) and runs on a model of Darwin.

#if canImport(Darwin)
import CurlewCore
import Foundation

/// A bound pair of streams: a `BodyFeed` writes to the output stream, and URLSession reads from the input stream.
enum BoundStream {
    private static let buffer = 64 << 10

    /// Creates the input stream for URLSession and the feed that writes to the output stream. Returns nil if the system
    /// creates no streams.
    static func make() -> (input: InputStream, feed: BodyFeed)? {
        var (input, output): (InputStream?, OutputStream?)
        Stream.getBoundStreams(withBufferSize: buffer, inputStream: &input, outputStream: &output)
        guard let input, let output else { return nil }
        // `getBoundStreams` puts both streams into one isolation region, but the state that they share is locked.
        nonisolated(unsafe) let end = output
        return (input, BodyFeed(StreamWriter(end)))
    }
}

/// Writes a body to an output stream. A lock guards its state; the stream delivers its events on `queue`.
private final class StreamWriter: NSObject, StreamDelegate, UploadSink {
    private struct State {
        let stream: OutputStream

        /// Whether the reader has stopped reading.
        var isOver: Bool {
            switch stream.streamStatus {
            case .closed, .error, .atEnd: true
            default: false
            }
        }
    }

    private let state: Monitor<State>
    private let queue = DispatchQueue(label: "curlew.urlsession.upload")

    init(_ stream: sending OutputStream) {
        state = Monitor(State(stream: stream))
        super.init()
        state.withLock { state in
            state.stream.delegate = self
            CFWriteStreamSetDispatchQueue(state.stream, queue)
            state.stream.open()
        }
    }

    /// Writes bytes when the stream has room. Returns the number of bytes written, or nil if the reader has stopped
    /// reading.
    func write(_ data: Data) async -> Int? {
        let count = await state.waitThroughCancellation { state -> Int? in
            if state.isOver { return -1 }
            guard state.stream.hasSpaceAvailable else { return nil }
            return data.withUnsafeBytes { bytes in
                bytes.bindMemory(to: UInt8.self).baseAddress.map {
                    state.stream.write($0, maxLength: bytes.count)
                } ?? 0
            }
        }
        return count > 0 ? count : nil
    }

    func close() {
        state.withLock { state in
            CFWriteStreamSetDispatchQueue(state.stream, nil)
            state.stream.delegate = nil
            state.stream.close()
        }
        // The stream does not retain its delegate, and an event for it may be on its way.
        queue.async { withExtendedLifetime(self) {} }
    }

    func stream(_ aStream: Stream, handle eventCode: Stream.Event) {
        // A waiting task checks whether the stream has room.
        state.withLock { _ in }
    }
}
#endif
