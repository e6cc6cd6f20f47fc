// SPDX-License-Identifier: MIT

import CZlib
package import CurlewCore
package import CurlewFoundation
import CurlewHTTP

/// The compression of messages by permessage-deflate (RFC 7692), with the system's zlib.
package final class DeflateCompression: WebSocketCompression {
    private let sending: Locked<ZlibStream>
    private let receiving: Locked<ZlibStream>

    /// The end of a block that a sender removes and a receiver adds (RFC 7692 §7.2.1).
    private static let tail: [UInt8] = [0x00, 0x00, 0xFF, 0xFF]

    /// Creates the compression of one connection for the end `role`. If its own window has 8 bits, which zlib does not
    /// support, the compressor searches for no repetitions. Throws `.configuration` if memory is exhausted.
    package init(_ parameters: PerMessageDeflate, role: WebSocketMachine.Role) throws(NetworkError) {
        let client = (parameters.clientMaxWindowBits, !parameters.clientNoContextTakeover)
        let server = (parameters.serverMaxWindowBits, !parameters.serverNoContextTakeover)
        let (own, peer) = role == .client ? (client, server) : (server, client)
        sending = Locked(try ZlibStream(deflates: true, bits: own.0, keepsWindow: own.1))
        receiving = Locked(try ZlibStream(deflates: false, bits: peer.0, keepsWindow: peer.1))
    }

    private static let corrupt = WebSocketViolation(.invalidText, "A compressed message is not valid deflate data.")

    package func compress(_ payload: Data) throws(WebSocketViolation) -> Data {
        let result = sending.withLock { zlib -> Data? in
            var (remainder, result) = (payload, Data())
            while true {
                guard let isEnd = zlib.run(&remainder) else { return nil }
                result.append(contentsOf: zlib.output)
                if isEnd { break }
            }
            zlib.end()
            return result
        }
        guard var result else { throw WebSocketViolation(.internalError, "zlib failed to compress the message.") }
        if result.count >= 4, result.suffix(4).elementsEqual(Self.tail) { result.removeLast(4) }
        // An empty message may produce no output; its compressed form is one empty block (RFC 7692 §7.2.3.6).
        return result.isEmpty ? Data([0]) : result
    }

    package func decompress(_ payload: Data, limit: Int) throws(WebSocketViolation) -> Data {
        try receiving.withLock { zlib in
            Result { () throws(WebSocketViolation) in try Self.decompressed(payload, limit, zlib) }
        }.get()
    }

    private static func decompressed(
        _ payload: Data, _ limit: Int, _ zlib: ZlibStream
    ) throws(WebSocketViolation) -> Data {
        var (remainder, result) = (payload + tail, Data())
        while true {
            let length = remainder.count
            guard let isEnd = zlib.run(&remainder) else { throw corrupt }
            guard result.count + zlib.output.count <= limit else {
                throw WebSocketViolation(.messageTooBig, "A message has more than \(limit) bytes after decompression.")
            }
            result.append(contentsOf: zlib.output)
            // A final block ends the stream; what follows starts anew (RFC 7692 §7.2.3.4).
            if isEnd { zlib.reset() }
            if remainder.isEmpty, isEnd || zlib.output.count < ZlibStream.room {
                // Otherwise the next message would continue within a block of this one.
                guard isEnd || zlib.isBetweenBlocks else { throw corrupt }
                break
            }
            if remainder.count == length, zlib.output.isEmpty { throw corrupt }
        }
        zlib.end()
        return result
    }
}

/// A compressor or a decompressor, with the output of its last run.
private final class ZlibStream {
    /// The maximum output of one run.
    static let room = 16 << 10

    private(set) var output: ArraySlice<UInt8> = []
    private var buffer = [UInt8](repeating: 0, count: room)
    private let stream: OpaquePointer
    private let keepsWindow: Bool

    init(deflates: Bool, bits: Int?, keepsWindow: Bool) throws(NetworkError) {
        guard let stream = curlew_zlib_create(deflates, Int32(bits ?? 15)) else {
            throw NetworkError(.configuration, detail: "There is not enough memory for compression.")
        }
        (self.stream, self.keepsWindow) = (stream, keepsWindow)
    }

    deinit { curlew_zlib_free(stream) }

    /// Converts a part of `input`, and removes it. Returns whether this was the last part; nil if zlib failed.
    func run(_ input: inout Data) -> Bool? {
        var (taken, written) = (0, 0)
        // The output of the last run must not share the buffer, which would then be copied.
        output = []
        let outcome = input.withUnsafeBytes { input in
            buffer.withUnsafeMutableBufferPointer { output in
                curlew_zlib_run(
                    stream, input.bindMemory(to: UInt8.self).baseAddress, input.count, &taken, output.baseAddress,
                    output.count, &written)
            }
        }
        input = input.dropFirst(taken)
        output = buffer[..<written]
        return outcome < 0 ? nil : outcome == 1
    }

    var isBetweenBlocks: Bool { curlew_zlib_is_between_blocks(stream) }

    func reset() { curlew_zlib_reset(stream) }

    func end() {
        if !keepsWindow { reset() }
    }
}
