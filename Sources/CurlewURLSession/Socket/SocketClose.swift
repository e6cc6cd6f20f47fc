// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import Foundation

/// Converts close codes and reasons between URLSession and `WebSocketCloseCode` (RFC 6455 §7.4).
enum SocketClose {
    /// The maximum number of bytes of a reason in a close frame (RFC 6455 §5.5).
    private static let reasonLimit = 123

    /// Returns how the connection ended, from the close code and the reason that URLSession reports; nil for
    /// `CloseCode.invalid` (0), which says that there was no close frame.
    static func end(_ code: Int, _ reason: Data?) -> SocketMachine.End? {
        guard code != 0 else { return nil }
        let number = UInt16(exactly: code).map { WebSocketCloseCode(rawValue: $0) }
        switch number {
        case .noStatus?: return .success(SocketMachine.Closing(code: .noStatus, reason: ""))
        // A lost connection, or a TLS handshake that failed. No close frame contains these codes.
        case WebSocketCloseCode(rawValue: 1006)?, WebSocketCloseCode(rawValue: 1015)?:
            return .failure(SocketMachine.lost)
        case let code? where code.isValidOnWire:
            guard let text = String(data: reason ?? Data(), encoding: .utf8) else {
                return .failure(broken("The reason of a close frame is not valid UTF-8."))
            }
            return .success(SocketMachine.Closing(code: code, reason: text))
        default: return .failure(broken("A close frame has the invalid code \(code)."))
        }
    }

    private static func broken(_ text: String) -> NetworkError {
        NetworkError(.badResponse, detail: "The server violated the WebSocket protocol: \(text)")
    }

    /// Returns the code for a close frame to the server. URLSession sends the number that it is given, so a code that
    /// no frame may contain is replaced by 1000.
    static func sent(_ code: WebSocketCloseCode) -> WebSocketCloseCode { code.isValidOnWire ? code : .normal }

    /// Returns the bytes of a reason, truncated between two characters; nil if there is none.
    static func bytes(_ reason: String) -> Data? {
        var bytes = Data()
        for scalar in reason.unicodeScalars {
            let next = Array(String(scalar).utf8)
            guard bytes.count + next.count <= reasonLimit else { break }
            bytes.append(contentsOf: next)
        }
        return bytes.isEmpty ? nil : bytes
    }
}
