// SPDX-License-Identifier: MIT

package import CurlewFoundation
package import CurlewHTTP

extension WebSocketMachine {
    /// Returns the frames of a message: one, or frames with at most `fragment` bytes of payload; less than 1 counts as
    /// 1. Throws `.internalError` if compression fails.
    package func encode(_ message: WebSocketMessage, fragment: Int? = nil) throws(WebSocketViolation) -> Data {
        let opcode: WebSocketFrameHeader.Opcode
        var payload: Data
        switch message {
        case .text(let text): (opcode, payload) = (.text, Data(text.utf8))
        case .binary(let data): (opcode, payload) = (.binary, data)
        }
        let isCompressed = compression != nil
        if let compression { payload = try compression.compress(payload) }
        let size = max(1, fragment ?? Int.max)
        guard payload.count > size else {
            return encode(opcode, payload[...], isFinal: true, isCompressed: isCompressed)
        }
        var bytes = Data()
        var remainder = payload[...]
        var isFirst = true
        while !remainder.isEmpty {
            let piece = remainder.prefix(size)
            remainder = remainder.dropFirst(size)
            bytes.append(
                encode(
                    isFirst ? opcode : .continuation, piece, isFinal: remainder.isEmpty,
                    isCompressed: isCompressed && isFirst))
            isFirst = false
        }
        return bytes
    }

    /// Returns a ping with at most 125 bytes of `payload`.
    package func encodePing(_ payload: Data) -> Data { encode(.ping, payload.prefix(125), isFinal: true) }

    /// Returns a pong with at most 125 bytes of `payload`.
    package func encodePong(_ payload: Data) -> Data { encode(.pong, payload.prefix(125), isFinal: true) }

    /// Returns a close frame. The reason is truncated to 123 bytes, between two Unicode scalars. Without a valid
    /// code, the frame has no payload.
    package func encodeClose(_ code: WebSocketCloseCode?, reason: String) -> Data {
        guard let code, code.isValidOnWire else { return encode(.close, Data(), isFinal: true) }
        var payload = Data([UInt8(code.rawValue >> 8), UInt8(code.rawValue & 0xFF)])
        for scalar in reason.unicodeScalars {
            let bytes = Array(String(scalar).utf8)
            guard payload.count + bytes.count <= 125 else { break }
            payload.append(contentsOf: bytes)
        }
        return encode(.close, payload, isFinal: true)
    }

    private func encode(
        _ opcode: WebSocketFrameHeader.Opcode, _ payload: Data, isFinal: Bool, isCompressed: Bool = false
    ) -> Data {
        let header = WebSocketFrameHeader(
            isFinal: isFinal, isCompressed: isCompressed, reserved: 0, opcode: opcode, length: payload.count,
            mask: role == .client ? mask() : nil)
        return header.frame(payload)
    }
}
