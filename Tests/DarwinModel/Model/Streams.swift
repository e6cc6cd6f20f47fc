// SPDX-License-Identifier: MIT
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CurlewCore
import Foundation
import TestServers

/// A bound pair of streams. Foundation on Linux has none.
extension Stream {
    static func getBoundStreams(
        withBufferSize size: Int, inputStream: inout InputStream?, outputStream: inout OutputStream?
    ) {
        let pipe = DarwinPipe(size)
        (inputStream, outputStream) = (BoundInput(pipe), BoundOutput(pipe))
    }
}

func CFWriteStreamSetDispatchQueue(_ stream: OutputStream, _ queue: DispatchQueue?) {
    (stream as? BoundOutput)?.pipe.state.withLock { $0.queue = queue }
}

/// What tests see of streams: how many were closed, and events for a delegate that is gone. `NSStream.delegate` is
/// unretained, so each of these would be a crash (apple/swift-openapi-urlsession#75).
final class DarwinStreamLog: Sendable {
    /// The log of the streams that are made from now on. Tests run one after the other.
    static let current = Locked<DarwinStreamLog?>(nil)
    let closings = Locked(0)
    let events = Locked(0)
    let lateEvents = Locked(0)
    /// Called on the queue of a stream, between the moment when an event is on its way and its delivery.
    let beforeEvent = Locked<(@Sendable () -> Void)?>(nil)
}

final class DarwinPipe: Sendable {
    struct State {
        var bytes = Data()
        var isWritten = false
        var isRead = false
        weak var delegate: (any StreamDelegate)?
        var hasDelegate = false
        var queue: DispatchQueue?
        weak var output: BoundOutput?
    }

    let size: Int
    let state = Monitor(State())
    let log = DarwinStreamLog.current.withLock { $0 }

    init(_ size: Int) { self.size = size }

    /// Tells the delegate that there is room, or that the reader is gone.
    func tellWriter(_ event: Stream.Event) {
        guard let queue = state.withLock({ $0.queue }) else { return }
        queue.async { [self] in
            // The system has the address of the delegate, and no reference.
            weak let target = state.withLock { $0.queue == nil ? Unchecked(nil) : Unchecked($0.delegate) }.value
            let isSet = state.withLock { $0.hasDelegate && $0.queue != nil }
            guard isSet else { return }
            log?.beforeEvent.withLock { $0 }?()
            let output = state.withLock { Unchecked($0.output) }.value
            if let target, let output { target.stream(output, handle: event) }
            if target == nil { log?.lateEvents.withLock { $0 += 1 } }
            log?.events.withLock { $0 += 1 }
        }
    }
}

final class BoundOutput: OutputStream {
    let pipe: DarwinPipe

    init(_ pipe: DarwinPipe) {
        self.pipe = pipe
        super.init(toMemory: ())
        let output = Unchecked(self)
        pipe.state.withLock { $0.output = output.value }
    }

    required init(toMemory: ()) {
        pipe = DarwinPipe(0)
        super.init(toMemory: ())
    }

    override var delegate: (any StreamDelegate)? {
        get { pipe.state.withLock { Unchecked($0.delegate) }.value }
        set {
            let value = Unchecked(newValue)
            pipe.state.withLock { ($0.delegate, $0.hasDelegate) = (value.value, value.value != nil) }
        }
    }
    override var hasSpaceAvailable: Bool { pipe.state.withLock { $0.bytes.count < pipe.size } }
    override var streamStatus: Stream.Status {
        pipe.state.withLock { $0.isWritten ? .closed : $0.isRead ? .error : .open }
    }
    override func open() { pipe.tellWriter(.hasSpaceAvailable) }
    override func close() {
        pipe.state.withLock { $0.isWritten = true }
        pipe.log?.closings.withLock { $0 += 1 }
    }

    override func write(_ buffer: UnsafePointer<UInt8>, maxLength length: Int) -> Int {
        let bytes = Data(bytes: buffer, count: length)
        return pipe.state.withLock { [size = pipe.size] state in
            guard !state.isRead, !state.isWritten else { return -1 }
            let piece = bytes.prefix(size - state.bytes.count)
            state.bytes += piece
            return piece.count
        }
    }
}

final class BoundInput: InputStream {
    private let pipe: DarwinPipe

    init(_ pipe: DarwinPipe) {
        self.pipe = pipe
        super.init(data: Data())
    }

    override func open() {}

    override func close() {
        let isFirst = pipe.state.withLock { state in
            defer { state.isRead = true }
            return !state.isRead
        }
        if isFirst { pipe.tellWriter(.errorOccurred) }
    }

    fileprivate func piece() async -> Data? {
        let piece = await pipe.state.wait { state -> Data? in
            guard state.bytes.isEmpty else {
                defer { state.bytes = Data() }
                return state.bytes
            }
            return state.isWritten || state.isRead ? Data() : nil
        }
        pipe.tellWriter(.hasSpaceAvailable)
        return piece.flatMap { $0.isEmpty ? nil : $0 }
    }
}

extension InputStream {
    /// The next bytes; nil at the end. Files are read on another thread.
    func nextPiece() async throws -> Data? {
        if let bound = self as? BoundInput { return await bound.piece() }
        let stream = Unchecked(self)
        return try await onThread {
            var buffer = [UInt8](repeating: 0, count: 64 << 10)
            let count = stream.value.read(&buffer, maxLength: buffer.count)
            if count < 0 { throw URLError(.cannotOpenFile) }
            return count == 0 ? nil : Data(buffer[..<count])
        }
    }
}
