// SPDX-License-Identifier: MIT

/// A response status code (RFC 9110 §15). Any number is kept as received.
public struct HTTPStatus: Hashable, Sendable {
    /// The status code as a number, such as 404.
    public let code: Int

    /// Creates a status from any number.
    public init(_ code: Int) {
        self.code = code
    }

    /// The classes of status codes (RFC 9110 §15).
    enum Kind: Hashable, Sendable {
        /// 100–199: an interim response, which the final response follows.
        case informational
        /// 200–299: the request was received, understood and accepted.
        case successful
        /// 300–399: the client must take further action to complete the request.
        case redirection
        /// 400–499: the request is invalid or cannot be fulfilled.
        case clientError
        /// 500–599: the server failed to fulfil a valid request.
        case serverError
        /// A code outside 100–599, which RFC 9110 defines as invalid.
        case other
    }

    var kind: Kind {
        switch code {
        case 100...199: .informational
        case 200...299: .successful
        case 300...399: .redirection
        case 400...499: .clientError
        case 500...599: .serverError
        default: .other
        }
    }

    /// Whether the code is 100–199, which marks an interim response.
    package var isInformational: Bool { kind == .informational }
    /// Whether the code is 200–299.
    public var isSuccess: Bool { kind == .successful }
    /// Whether the code is 300–399. Includes 304, which is not a redirect to follow.
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
    /// Returns whether the left code is the smaller number.
    public static func < (left: HTTPStatus, right: HTTPStatus) -> Bool {
        left.code < right.code
    }
}

extension HTTPStatus: ExpressibleByIntegerLiteral {
    /// Creates a status from an integer literal.
    public init(integerLiteral value: Int) {
        self.init(value)
    }
}

extension HTTPStatus: CustomStringConvertible {
    /// The code and its registered reason phrase, such as "404 Not Found", or only the code if no phrase is registered.
    public var description: String {
        let phrase = reasonPhrase
        return phrase.isEmpty ? String(code) : "\(code) \(phrase)"
    }
}
