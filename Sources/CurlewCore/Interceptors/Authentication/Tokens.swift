// SPDX-License-Identifier: MIT

import CurlewHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What a sign-in gives: the token that goes with each call, and what renews it.
///
/// Decodes from an OAuth 2 token response (`access_token`, `refresh_token`, `expires_in`; RFC 6749 §5.1) and from the
/// camel-case form many services use; encodes for a `TokenPersistence`. No description shows a secret.
public struct Tokens: Codable, Hashable, Sendable {
    /// Goes with each call.
    public var accessToken: String
    /// Gets new tokens; nil if they cannot be renewed.
    public var refreshToken: String?
    /// When the access token ends; nil if nobody knows. By the server's clock if it named a moment, by this machine's if
    /// it named a lifetime.
    public var expiresAt: Date? { didSet { isCountedHere = false } }
    /// The server's clock does not matter: the end was counted from when the tokens came.
    private(set) var isCountedHere = false
    /// Which sign-in they come from. Written by the store alone, whatever a server sends, and kept with the tokens, so
    /// that what is kept for an account is found again by the next process.
    var session: String?

    /// Tokens from their parts.
    ///
    /// Without `expiresAt`, a JSON Web Token tells by its `exp` claim. The claim is read and not verified: it decides
    /// when to renew, never whom to trust.
    public init(accessToken: String, refreshToken: String? = nil, expiresAt: Date? = nil) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.expiresAt = expiresAt ?? JWTClaims(accessToken)?.expiresAt
    }

    /// Tokens that end after `lifetime`, counted from `date`.
    public init(accessToken: String, refreshToken: String? = nil, lifetime: Duration, from date: Date = Date()) {
        self.init(
            accessToken: accessToken, refreshToken: refreshToken,
            expiresAt: date.addingTimeInterval(Double(lifetime.wholeNanoseconds) / 1e9))
        isCountedHere = true
    }

    /// Reads a token response, or what `encode(to:)` wrote. A `token_type` that is bound to a key (`DPoP`, `PoP`, `MAC`)
    /// is refused: such a token is not sent as a bearer token.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Field.self)
        func text(_ names: Field...) throws -> String? {
            for name in names {
                if let value = try fields.decodeIfPresent(String.self, forKey: name) { return value }
            }
            return nil
        }
        guard let access = try text(.access, .accessCamel, .token) else {
            throw DecodingError.keyNotFound(
                Field.access,
                DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "There is no access token."))
        }
        if let type = try? fields.decode(String.self, forKey: .type), Self.boundTypes.contains(type.lowercased()) {
            throw DecodingError.dataCorruptedError(
                forKey: .type, in: fields, debugDescription: "The tokens are bound to a key, and not sent as Bearer.")
        }
        let refresh = try text(.refresh, .refreshCamel)
        if let date = try? fields.decode(Double.self, forKey: .end), date.isFinite {
            self.init(
                accessToken: access, refreshToken: refresh, expiresAt: Date(timeIntervalSince1970: date))
            isCountedHere = (try? fields.decode(Bool.self, forKey: .counted)) ?? false
        } else if let seconds = try Self.seconds(fields) {
            self.init(accessToken: access, refreshToken: refresh, lifetime: .seconds(seconds))
        } else {
            self.init(accessToken: access, refreshToken: refresh)
        }
        session = try? fields.decode(String.self, forKey: .session)
    }

    /// Writes `access_token`, `refresh_token`, `expires_at` in seconds since 1970, and what the store wants to know again
    /// (`curlew_session`, `curlew_counted`).
    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Field.self)
        try fields.encode(accessToken, forKey: .access)
        try fields.encodeIfPresent(refreshToken, forKey: .refresh)
        try fields.encodeIfPresent(expiresAt?.timeIntervalSince1970, forKey: .end)
        if isCountedHere { try fields.encode(true, forKey: .counted) }
        try fields.encodeIfPresent(session, forKey: .session)
    }

    /// Some servers write the number as text; what is out of all proportion counts as a century.
    private static func seconds(_ fields: KeyedDecodingContainer<Field>) throws -> Double? {
        for name in [Field.lifetime, .lifetimeCamel] where fields.contains(name) {
            let number = try? fields.decode(Double.self, forKey: name)
            let text = try? fields.decode(String.self, forKey: name)
            if let seconds = number ?? text.flatMap(Double.init), seconds.isFinite {
                return min(max(0, seconds), 3_155_760_000)
            }
        }
        return nil
    }

    private static let boundTypes: Set<String> = ["dpop", "pop", "mac"]

    private enum Field: String, CodingKey {
        case type = "token_type"
        case access = "access_token"
        case accessCamel = "accessToken"
        case token
        case refresh = "refresh_token"
        case refreshCamel = "refreshToken"
        case lifetime = "expires_in"
        case lifetimeCamel = "expiresIn"
        case end = "expires_at"
        case session = "curlew_session"
        case counted = "curlew_counted"
    }
}

extension Tokens {
    /// The same tokens that end at the same time.
    public static func == (left: Tokens, right: Tokens) -> Bool {
        left.accessToken == right.accessToken && left.refreshToken == right.refreshToken
            && left.expiresAt == right.expiresAt
    }

    /// By the tokens.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(accessToken)
        hasher.combine(refreshToken)
    }
}

extension Tokens: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// When they end and if they can be renewed; never a token.
    public var description: String {
        let end = expiresAt.map { "until \(HTTPDate($0))" } ?? "of unknown life"
        return "Tokens(\(end), \(refreshToken == nil ? "not renewable" : "renewable"))"
    }

    /// The same as `description`.
    public var debugDescription: String { description }

    /// Shows what `description` does, and nothing else.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
