// SPDX-License-Identifier: MIT

import CurlewCore
public import CurlewFoundation
public import CurlewHTTP

/// An access token and its refresh token, as a sign-in or a refresh returns them.
///
/// `Tokens` decodes from an OAuth 2 token response (`access_token`, `refresh_token`, `expires_in`; RFC 6749 §5.1) and
/// from the camel-case form that many services use. It encodes for a `TokenStore.Persistence`. Its descriptions contain
/// no secret.
public struct Tokens: Codable, Hashable, Sendable {
    /// The access token, for `Authorization: Bearer …`.
    public var accessToken: String
    /// The refresh token; nil if there is none. In the result of a refresh, nil keeps the earlier one (RFC 6749 §6).
    public var refreshToken: String?
    /// The time when the access token expires, by the server's clock, or by the local clock if a lifetime was given.
    /// Nil if unknown: the tokens are then refreshed only after a 401.
    public var expiresAt: Date? { didSet { isCountedHere = false } }
    /// Whether the expiry was computed by the local clock from a lifetime, so that the difference between the clocks is
    /// irrelevant.
    private(set) var isCountedHere = false
    /// An identifier of the sign-in. Only the store sets it: a value from a server is ignored. It is stored with the
    /// tokens, so that the next process finds the cached responses of the account.
    var session: String?

    /// Creates tokens that expire at `expiresAt`.
    ///
    /// If `expiresAt` is nil, the `exp` claim is used if the access token is a JSON Web Token of at most 16 KiB. The
    /// claim is not verified: it determines only when to refresh, never what to trust.
    public init(accessToken: String, refreshToken: String? = nil, expiresAt: Date? = nil) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.expiresAt = expiresAt ?? JWTClaims.end(of: accessToken)
    }

    /// Creates tokens that expire `lifetime` after `date` of the local clock. Default now.
    public init(accessToken: String, refreshToken: String? = nil, lifetime: Duration, from date: Date = Date()) {
        self.init(
            accessToken: accessToken, refreshToken: refreshToken,
            expiresAt: date.addingTimeInterval(Double(lifetime.wholeNanoseconds) / 1e9))
        isCountedHere = true
    }

    /// Decodes a token response, or the output of `encode(to:)`. The expiry is `expires_at` in seconds since 1970, else
    /// `expires_in` seconds from now (at most 100 years), else the `exp` claim of a JSON Web Token.
    ///
    /// Throws `DecodingError` if the access token is missing or empty, if a token has more than 64 KiB, or if the
    /// `token_type` is bound to a key (`DPoP`, `PoP`, `MAC`): such a token must not be sent as a bearer token.
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
                DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "The access token is missing."))
        }
        if let type = try? text(.type, .typeCamel), Self.boundTypes.contains(type.lowercased()) {
            throw DecodingError.dataCorruptedError(
                forKey: .type, in: fields,
                debugDescription: "The tokens are bound to a key and cannot be sent as Bearer.")
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
        if let problem {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: decoder.codingPath, debugDescription: problem))
        }
    }

    /// The maximum length of a token in bytes. Servers limit the fields of a request to 8 or 16 KiB.
    static let lengthLimit = 64 << 10

    /// The reason why the tokens cannot be used: the access token is empty, or a token is too long; nil if there is
    /// none.
    var problem: String? {
        if accessToken.utf8.allSatisfy({ $0 <= 0x20 }) { return "The access token is empty." }
        let length = max(accessToken.utf8.count, refreshToken?.utf8.count ?? 0)
        return length > Self.lengthLimit ? "A token has \(length) bytes; the limit is \(Self.lengthLimit)." : nil
    }

    /// Throws `.notAuthenticated(.sourceFailed)` if the tokens cannot be used.
    func check() throws(NetworkError) {
        if let problem {
            throw NetworkError(
                .notAuthenticated(.sourceFailed), detail: problem, hint: "Check what the source of the tokens returns.")
        }
    }

    /// Encodes `access_token`, `refresh_token`, `expires_at` in seconds since 1970, and the state of the store
    /// (`curlew_session`, `curlew_counted`).
    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Field.self)
        try fields.encode(accessToken, forKey: .access)
        try fields.encodeIfPresent(refreshToken, forKey: .refresh)
        try fields.encodeIfPresent(expiresAt?.timeIntervalSince1970, forKey: .end)
        if isCountedHere { try fields.encode(true, forKey: .counted) }
        try fields.encodeIfPresent(session, forKey: .session)
    }

    /// Returns the lifetime in seconds, from zero to a hundred years; nil if there is none. Some servers send the
    /// number as text.
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
        case typeCamel = "tokenType"
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
    /// Returns whether both values have the same tokens and the same expiry.
    public static func == (left: Tokens, right: Tokens) -> Bool {
        left.accessToken == right.accessToken && left.refreshToken == right.refreshToken
            && left.expiresAt == right.expiresAt
    }

    /// Hashes the tokens, not the expiry.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(accessToken)
        hasher.combine(refreshToken)
    }
}

extension Tokens: MirroredByDescription {
    /// The expiry, and whether the tokens can be refreshed. The description never contains a token.
    public var description: String {
        let end = expiresAt.map { "until \(HTTPDate($0))" } ?? "of unknown lifetime"
        return "Tokens(\(end), \(refreshToken == nil ? "not refreshable" : "refreshable"))"
    }
}

/// The lifetime claim of a JSON Web Token (RFC 7519 §4.1.4).
private struct JWTClaims: Decodable {
    private let exp: Double?

    /// The maximum length of a token in bytes. A longer token is not parsed.
    private static let lengthLimit = 16 << 10

    /// Returns the time from which a token in its compact form must not be used; nil if it does not name one. The claim
    /// is not verified: only the server that issued the token can determine whether it is genuine.
    static func end(of token: String) -> Date? {
        guard token.utf8.count <= lengthLimit else { return nil }
        let parts = token.parts(".", keepingEmpty: true)
        guard parts.count == 3, let payload = Base64URL.decode(parts[1].utf8),
            let seconds = (try? JSONDecoder().decode(JWTClaims.self, from: payload))?.exp, abs(seconds) < 1e11
        else { return nil }
        return Date(timeIntervalSince1970: seconds)
    }
}

/// Base 64 with the URL alphabet and without padding (RFC 4648 §5).
package enum Base64URL {
    package static func decode(_ text: some Collection<UInt8>) -> Data? {
        var standard = text.map { byte in
            switch byte {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            default: byte
            }
        }
        standard += Array(repeating: UInt8(ascii: "="), count: (4 - standard.count % 4) % 4)
        return Data(base64Encoded: Data(standard))
    }

    package static func encode(_ bytes: Data) -> String {
        String(
            decoding: bytes.base64EncodedData().compactMap { byte -> UInt8? in
                switch byte {
                case UInt8(ascii: "+"): UInt8(ascii: "-")
                case UInt8(ascii: "/"): UInt8(ascii: "_")
                case UInt8(ascii: "="): nil
                default: byte
                }
            }, as: UTF8.self)
    }
}
