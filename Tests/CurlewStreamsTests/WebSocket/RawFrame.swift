// SPDX-License-Identifier: MIT

@testable import CurlewStreams

/// Frames made by hand, valid or not (RFC 6455 §5.2).
enum RawFrame {
    static let continuation: UInt8 = 0
    static let text: UInt8 = 1
    static let binary: UInt8 = 2
    static let close: UInt8 = 8
    static let ping: UInt8 = 9
    static let pong: UInt8 = 10

    /// - `reserved`: RSV1 to RSV3 as a number of three bits.
    /// - `lengthSize`: the bytes of the extended length: 0, 2 or 8. Nil for the shortest form.
    static func make(
        _ opcode: UInt8, _ payload: some Sequence<UInt8> = [], isFinal: Bool = true, reserved: UInt8 = 0,
        mask: [UInt8]? = nil, lengthSize: Int? = nil
    ) -> Data {
        let payload = Array(payload)
        let size = lengthSize ?? (payload.count < 126 ? 0 : payload.count < 65_536 ? 2 : 8)
        let flag: UInt8 = mask == nil ? 0 : 0x80
        var bytes = [(isFinal ? 0x80 : 0) | reserved << 4 | opcode]
        switch size {
        case 0: bytes.append(flag | UInt8(payload.count))
        default:
            bytes.append(flag | (size == 2 ? 126 : 127))
            bytes += (0..<size).map { UInt8(truncatingIfNeeded: payload.count >> (8 * (size - 1 - $0))) }
        }
        guard let mask else { return Data(bytes + payload) }
        return Data(bytes + mask + payload.enumerated().map { $1 ^ mask[$0 % 4] })
    }

    /// Returns a close frame with a code and a reason.
    static func close(_ code: UInt16, _ reason: some Sequence<UInt8> = []) -> Data {
        make(close, [UInt8(code >> 8), UInt8(code & 0xFF)] + reason)
    }
}

/// What a machine returned for pieces of bytes.
struct Reception: Equatable {
    var events: [WebSocketMachine.Event] = []
    var violation: WebSocketViolation?

    init(_ machine: inout WebSocketMachine, _ pieces: [Data]) {
        do throws(WebSocketViolation) {
            for piece in pieces { events += try machine.receive(piece) }
            try machine.throwViolation()
        } catch {
            violation = error
        }
    }

    init(_ role: WebSocketMachine.Role, _ pieces: Data...) {
        var machine = WebSocketMachine(role: role)
        self.init(&machine, pieces)
    }
}
