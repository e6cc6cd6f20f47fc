// SPDX-License-Identifier: MIT

package import CurlewFoundation
package import CurlewHTTP

/// The header of a WebSocket frame (RFC 6455 §5.2).
package struct WebSocketFrameHeader: Sendable {
    package enum Opcode: UInt8, Sendable {
        case continuation = 0
        case text = 1
        case binary = 2
        case close = 8
        case ping = 9
        case pong = 10

        var isControl: Bool { rawValue >= 8 }
    }

    package let isFinal: Bool
    /// RSV1, which marks a compressed message.
    package let isCompressed: Bool
    /// RSV2 and RSV3.
    let reserved: UInt8
    package let opcode: Opcode
    package let length: Int
    package let mask: UInt32?

    /// Returns the header at the offset `start` with its size in bytes; nil if the header is incomplete. Throws
    /// `.protocolError` for a reserved opcode, and for a length that is not in its shortest form.
    package static func read(
        _ buffer: Data, from start: Int
    ) throws(WebSocketViolation) -> (header: WebSocketFrameHeader, size: Int)? {
        let count = buffer.count - start
        guard count >= 2 else { return nil }
        let base = buffer.startIndex + start
        let (first, second) = (buffer[base], buffer[base + 1])
        guard let opcode = Opcode(rawValue: first & 0x0F) else {
            throw WebSocketViolation(.protocolError, "The opcode \(first & 0x0F) is reserved.")
        }
        let short = Int(second & 0x7F)
        let extra = short == 126 ? 2 : short == 127 ? 8 : 0
        let isMasked = second & 0x80 != 0
        let size = 2 + extra + (isMasked ? 4 : 0)
        guard count >= size else { return nil }
        func number(_ offset: Int, _ bytes: Int) -> UInt64 {
            buffer[(base + offset)..<(base + offset + bytes)].reduce(0) { $0 << 8 | UInt64($1) }
        }
        var length = UInt64(short)
        if extra > 0 {
            length = number(2, extra)
            // The shortest form must be used, and the highest bit of the long form must be zero.
            guard length > (extra == 2 ? 125 : 0xFFFF), length <= UInt64(Int.max) else {
                throw WebSocketViolation(.protocolError, "The length of a frame is not in its shortest form.")
            }
        }
        let header = WebSocketFrameHeader(
            isFinal: first & 0x80 != 0, isCompressed: first & 0x40 != 0, reserved: first & 0x30, opcode: opcode,
            length: Int(length), mask: isMasked ? UInt32(number(2 + extra, 4)) : nil)
        return (header, size)
    }

    func frame(_ payload: Data) -> Data {
        var bytes = Data()
        bytes.reserveCapacity(payload.count + 14)
        bytes.append((isFinal ? 0x80 : 0) | (isCompressed ? 0x40 : 0) | opcode.rawValue)
        let flag: UInt8 = mask == nil ? 0 : 0x80
        switch payload.count {
        case ...125: bytes.append(flag | UInt8(payload.count))
        case ...0xFFFF:
            bytes.append(flag | 126)
            Self.append(UInt16(payload.count).bigEndian, to: &bytes)
        default:
            bytes.append(flag | 127)
            Self.append(UInt64(payload.count).bigEndian, to: &bytes)
        }
        if let mask {
            Self.append(mask.bigEndian, to: &bytes)
            let size = bytes.count
            bytes.append(payload)
            Self.apply(mask, to: &bytes, after: size)
        } else {
            bytes.append(payload)
        }
        return bytes
    }

    private static func append(_ number: some FixedWidthInteger, to bytes: inout Data) {
        withUnsafeBytes(of: number) { bytes.append(contentsOf: $0) }
    }

    /// Masks or unmasks the bytes from the index `offset` (RFC 6455 §5.3). `position` is the index of the first of
    /// these bytes in the payload of the frame.
    package static func apply(_ mask: UInt32, to bytes: inout Data, from position: Int = 0, after offset: Int = 0) {
        bytes.withUnsafeMutableBytes { all in
            let part = UnsafeMutableRawBufferPointer(rebasing: all[offset...])
            // The key from `position`, whose first byte is the lowest one.
            let turn = UInt32(8 * (position & 3))
            let key = (mask << turn | mask >> (32 - turn)).byteSwapped
            let word = UInt64(key) << 32 | UInt64(key)
            var index = 0
            while index + 8 <= part.count {
                let value = UInt64(littleEndian: part.loadUnaligned(fromByteOffset: index, as: UInt64.self))
                part.storeBytes(of: (value ^ word).littleEndian, toByteOffset: index, as: UInt64.self)
                index += 8
            }
            while index < part.count {
                part[index] ^= UInt8(truncatingIfNeeded: key >> UInt32(8 * (index & 3)))
                index += 1
            }
        }
    }
}

extension WebSocketCloseCode {
    /// 1002: the peer violated the protocol.
    package static let protocolError = Self(rawValue: 1002)
    /// 1007: a text is not valid UTF-8, or compressed data is not valid.
    package static let invalidText = Self(rawValue: 1007)
}
