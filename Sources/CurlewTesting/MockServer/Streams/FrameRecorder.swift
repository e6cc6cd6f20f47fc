// SPDX-License-Identifier: MIT

import CurlewFoundation
import CurlewHTTP
import CurlewStreams

/// Records the heads of the frames in the bytes of a client.
struct FrameRecorder: Sendable {
    private(set) var frames: [MockWebSocket.Frame] = []
    /// The bytes that have not been processed: less than a header.
    private var buffer = Data()
    private var header: WebSocketFrameHeader?
    private var prefix = Data()
    private var remaining = 0
    /// Whether the bytes are no frames.
    private var isBroken = false

    private static let limit = 1000
    private static let prefixSize = 125

    var latest: [MockWebSocket.Frame] { Array(frames.suffix(Self.limit)) }

    mutating func receive(_ bytes: Data) {
        guard !isBroken else { return }
        buffer.append(bytes)
        while step() {}
        if buffer.isEmpty { buffer = Data() }
    }

    private mutating func step() -> Bool {
        if let header {
            let piece = buffer.prefix(remaining)
            prefix.append(piece.prefix(Self.prefixSize - prefix.count))
            remaining -= piece.count
            buffer = Data(buffer.dropFirst(piece.count))
            guard remaining == 0 else { return false }
            record(header)
            self.header = nil
            return true
        }
        do throws(WebSocketViolation) {
            guard let (header, size) = try WebSocketFrameHeader.read(buffer, from: 0) else { return false }
            buffer = Data(buffer.dropFirst(size))
            (self.header, remaining, prefix) = (header, header.length, Data())
            return true
        } catch {
            isBroken = true
            return false
        }
    }

    private mutating func record(_ header: WebSocketFrameHeader) {
        if let mask = header.mask { WebSocketFrameHeader.apply(mask, to: &prefix) }
        if frames.count == 2 * Self.limit { frames.removeFirst(Self.limit) }
        frames.append(
            MockWebSocket.Frame(
                kind: MockWebSocket.Kind(header.opcode), isFinal: header.isFinal, isCompressed: header.isCompressed,
                isMasked: header.mask != nil, size: header.length, prefix: prefix))
    }
}

extension MockWebSocket.Kind {
    fileprivate init(_ opcode: WebSocketFrameHeader.Opcode) {
        self =
            switch opcode {
            case .continuation: .continuation
            case .text: .text
            case .binary: .binary
            case .close: .close
            case .ping: .ping
            case .pong: .pong
            }
    }
}
