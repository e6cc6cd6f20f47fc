// SPDX-License-Identifier: MIT

/// A response status code (RFC 9110 §15); any number is kept as received.
public struct HTTPStatus: Hashable, Sendable {
    /// The number on the wire.
    public let code: Int

    /// A status from its number; nothing is refused.
    public init(_ code: Int) {
        self.code = code
    }

    /// The classes of RFC 9110 §15.
    public enum Kind: Hashable, Sendable {
        /// 100–199: the final response is still to come.
        case informational
        /// 200–299: received, understood and accepted.
        case successful
        /// 300–399: further action is needed.
        case redirection
        /// 400–499: the request is at fault.
        case clientError
        /// 500–599: the server is at fault.
        case serverError
        /// Outside 100–599, which RFC 9110 calls invalid.
        case other
    }

    /// The class, from the first digit.
    public var kind: Kind {
        switch code {
        case 100...199: .informational
        case 200...299: .successful
        case 300...399: .redirection
        case 400...499: .clientError
        case 500...599: .serverError
        default: .other
        }
    }

    /// Whether the code is 100–199.
    public var isInformational: Bool { kind == .informational }
    /// Whether the code is 200–299.
    public var isSuccess: Bool { kind == .successful }
    /// Whether the code is 300–399. 304 counts, although nothing is to be followed.
    public var isRedirection: Bool { kind == .redirection }
    /// Whether the code is 400–499.
    public var isClientError: Bool { kind == .clientError }
    /// Whether the code is 500–599.
    public var isServerError: Bool { kind == .serverError }

    /// Whether a response with this status never has content: 1xx, 204 and 304 (RFC 9110 §6.4.1).
    package var forbidsContent: Bool {
        isInformational || code == 204 || code == 304
    }
}

extension HTTPStatus: Comparable {
    /// By number.
    public static func < (left: HTTPStatus, right: HTTPStatus) -> Bool {
        left.code < right.code
    }
}

extension HTTPStatus: ExpressibleByIntegerLiteral {
    /// A status written as a number.
    public init(integerLiteral value: Int) {
        self.init(value)
    }
}

extension HTTPStatus: CustomStringConvertible {
    /// "404 Not Found"; only the number when the phrase is not known.
    public var description: String {
        let phrase = reasonPhrase
        return phrase.isEmpty ? String(code) : "\(code) \(phrase)"
    }
}
