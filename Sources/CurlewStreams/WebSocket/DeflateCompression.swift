// SPDX-License-Identifier: MIT

import CZlib
package import CurlewCore
package import CurlewFoundation
package import CurlewHTTP

/// The compression of messages by permessage-deflate (RFC 7692), with the system's zlib.
///
/// `@unchecked Sendable` is valid because every access to the two streams is under a lock of its own.
package final class DeflateCompression: WebSocketCompression, @unchecked Sendable {
    private let deflater: OpaquePointer
    private let inflater: OpaquePointer
    private let keepsOwnWindow: Bool
    private let keepsPeerWindow: Bool
    /// The locks of the two streams, with the output of one run of zlib.
    private let sending = Locked([UInt8](repeating: 0, count: room))
    private let receiving = Locked([UInt8](repeating: 0, count: room))

    private static let room = 16 << 10
    /// The end of a block that a sender removes and a receiver adds (RFC 7692 §7.2.1).
    private static let tail: [UInt8] = [0x00, 0x00, 0xFF, 0xFF]

    /// Throws `.configuration` if memory is exhausted. A window of 8 bits finds no repetitions: zlib does not support it.
    package init(_ parameters: PerMessageDeflate, role: WebSocketMachine.Role) throws(NetworkError) {
        let own = (role == .client ? parameters.clientMaxWindowBits : parameters.serverMaxWindowBits) ?? 15
        let peer = (role == .client ? parameters.serverMaxWindowBits : parameters.clientMaxWindowBits) ?? 15
        keepsOwnWindow =
            !(role == .client ? parameters.clientNoContextTakeover : parameters.serverNoContextTakeover)
        keepsPeerWindow =
            !(role == .client ? parameters.serverNoContextTakeover : parameters.clientNoContextTakeover)
        guard let deflater = curlew_deflate_create(6, Int32(own)) else { throw Self.memory }
        guard let inflater = curlew_inflate_create(Int32(peer)) else {
            curlew_deflate_free(deflater)
            throw Self.memory
        }
        (self.deflater, self.inflater) = (deflater, inflater)
    }

    deinit {
        curlew_deflate_free(deflater)
        curlew_inflate_free(inflater)
    }

    private static let corrupt = WebSocketViolation(.invalidText, "A compressed message is not valid deflate data.")

    private static var memory: NetworkError {
        NetworkError(.configuration, detail: "There is not enough memory for compression.")
    }

    package func compress(_ payload: Data) throws(WebSocketViolation) -> Data {
        let result = sending.withLock { compressed(payload, &$0) }
        guard let result else { throw WebSocketViolation(.internalError, "zlib failed to compress the message.") }
        return result
    }

    private func compressed(_ payload: Data, _ buffer: inout [UInt8]) -> Data? {
        var result = Data()
        var position = payload.startIndex
        while true {
            var (taken, written) = (0, 0)
            let outcome = payload[position...].withUnsafeBytes { input in
                buffer.withUnsafeMutableBufferPointer { output in
                    curlew_deflate_run(
                        deflater, input.bindMemory(to: UInt8.self).baseAddress, input.count, &taken,
                        output.baseAddress, output.count, &written)
                }
            }
            guard outcome >= 0 else { return nil }
            position += taken
            result.append(contentsOf: buffer[..<written])
            if outcome == 1 { break }
        }
        if !keepsOwnWindow { curlew_deflate_reset(deflater) }
        // An empty message may produce no output; its compressed form is one empty block (RFC 7692 §7.2.3.6).
        guard result.count >= 4, result.suffix(4).elementsEqual(Self.tail) else {
            return result.isEmpty ? Data([0]) : result
        }
        result.removeLast(4)
        return result.isEmpty ? Data([0]) : result
    }

    package func decompress(_ payload: Data, limit: Int) throws(WebSocketViolation) -> Data {
        try receiving.withLock { buffer in
            Result { () throws(WebSocketViolation) in try decompressed(payload, limit, &buffer) }
        }.get()
    }

    private func decompressed(
        _ payload: Data, _ limit: Int, _ buffer: inout [UInt8]
    ) throws(WebSocketViolation) -> Data {
        let input = payload + Self.tail
        var result = Data()
        var position = input.startIndex
        while true {
            var (taken, written) = (0, 0)
            let outcome = input[position...].withUnsafeBytes { input in
                buffer.withUnsafeMutableBufferPointer { output in
                    curlew_inflate_run(
                        inflater, input.bindMemory(to: UInt8.self).baseAddress, input.count, &taken,
                        output.baseAddress, output.count, &written)
                }
            }
            guard outcome >= 0 else { throw Self.corrupt }
            position += taken
            guard result.count + written <= limit else {
                throw WebSocketViolation(.messageTooBig, "A message has more than \(limit) bytes after decompression.")
            }
            result.append(contentsOf: buffer[..<written])
            // A final block ends the stream; what follows starts anew (RFC 7692 §7.2.3.4).
            if outcome == 1 { curlew_inflate_reset(inflater) }
            if position == input.endIndex, written < buffer.count || outcome == 1 {
                // Otherwise the next message would continue within a block of this one.
                guard outcome == 1 || curlew_inflate_is_between_blocks(inflater) == 1 else { throw Self.corrupt }
                break
            }
            if taken == 0, written == 0 { throw Self.corrupt }
        }
        if !keepsPeerWindow { curlew_inflate_reset(inflater) }
        return result
    }
}
