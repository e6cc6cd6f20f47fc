// SPDX-License-Identifier: MIT

public import CurlewFoundation

/// A complete message of a WebSocket connection (RFC 6455 §5.6).
public enum WebSocketMessage: Hashable, Sendable {
    /// A text message. The bytes on the connection are valid UTF-8.
    case text(String)
    /// A binary message.
    case binary(Data)

    /// The number of bytes of the content.
    public var count: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .binary(let data): data.count
        }
    }
}

/// The status code with which a WebSocket connection is closed (RFC 6455 §7.4).
public struct WebSocketCloseCode: RawRepresentable, Hashable, CustomStringConvertible, Sendable {
    /// The number in the close frame, such as 1000.
    public var rawValue: UInt16

    /// Creates a code from its number.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// 1000: the purpose of the connection is fulfilled.
    public static let normal = Self(rawValue: 1000)
    /// 1001: the server shuts down, or the client leaves.
    public static let goingAway = Self(rawValue: 1001)
    /// 1005: the peer closed the connection without a code. Never sent.
    package static let noStatus = Self(rawValue: 1005)
    /// 1008: a message violates the receiver's policy.
    public static let policyViolation = Self(rawValue: 1008)
    /// 1009: a message is larger than the receiver accepts.
    package static let messageTooBig = Self(rawValue: 1009)
    /// 1011: the server failed unexpectedly.
    public static let internalError = Self(rawValue: 1011)

    /// Whether a close frame may contain the code: 1000 to 1003, 1007 to 1014, and 3000 to 4999 (RFC 6455 §7.4, and the
    /// registry of IANA).
    package var isValidOnWire: Bool {
        switch rawValue {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }

    /// The number.
    public var description: String { "\(rawValue)" }
}
