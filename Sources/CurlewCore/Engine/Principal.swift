// SPDX-License-Identifier: MIT

import CurlewHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Whose answer a request gets, as far as that can be told before it is sent: a part of the key of whatever keeps or
/// shares answers. See `Next.principal(of:)`.
///
/// Equal values mean the same party, or nobody. Different ones may still be one party: an account that signs in again is
/// another principal. So two users never share one, whatever their tokens say of themselves.
public enum Principal: Hashable, Sendable {
    /// Nobody: no credential goes with the request.
    case anonymous
    /// One party, told apart from others by a text that gives away no credential.
    ///
    /// - `isLasting`: the same text means the same party in the next process too. If false, it means nothing beyond
    ///   this one: credentials are hashed with a key of the process.
    case known(String, isLasting: Bool)
    /// A credential may go along, and nobody can tell whose. Its answers must be neither kept nor shared.
    case unknown
}

extension Principal {
    /// Both at once: what a request has whose answer depends on several credentials.
    package mutating func join(_ other: Principal) {
        switch (self, other) {
        case (_, .anonymous): break
        case (.anonymous, _): self = other
        case (.known(let mine, let lasts), .known(let theirs, let alsoLasts)):
            self = .known("\(mine)+\(theirs)", isLasting: lasts && alsoLasts)
        case (.unknown, _), (_, .unknown): self = .unknown
        }
    }

    /// Who has signed in: a random text for each sign-in.
    static func session(_ identifier: String) -> Principal { .known("session-" + identifier, isLasting: true) }

    /// Whom the app names. Hashed, because a name may be an address of a person.
    static func named(_ name: String?, as kind: String) -> Principal {
        guard let name, !name.isEmpty else { return .unknown }
        return .known("name-" + MessageDigest.sha256(joined([kind, name])).hexText, isLasting: true)
    }

    /// Who has this credential.
    static func holder(of parts: [String]) -> Principal {
        .known("holder-" + MessageDigest.hmacSHA256(joined(parts), key: key).hexText, isLasting: false)
    }

    /// Who is named by what a request brings along: fields that are secret by their names, except for the proxy's, and
    /// what the client sends with all its calls, which may be a token of any name.
    init(of request: HTTPRequest, homeFields: Set<HTTPField.Name>) {
        var (secrets, others): ([String], [String]) = ([], [])
        for field in request.headers {
            if field.name.isSensitive {
                if field.name != .proxyAuthorization { secrets += [field.name.text.lowercased(), field.value] }
            } else if homeFields.contains(field.name), !Self.harmless.contains(field.name) {
                others += [field.name.text.lowercased(), field.value]
            }
        }
        self = secrets.isEmpty ? .anonymous : .holder(of: secrets)
        if !others.isEmpty {
            join(.known("fields-" + MessageDigest.sha256(Self.joined(others)).hexText, isLasting: true))
        }
    }

    /// Fields that never name a party.
    private static let harmless: Set<HTTPField.Name> = [
        .accept, .acceptEncoding, .acceptLanguage, .cacheControl, .contentType, .userAgent,
    ]

    /// Each part with its length, so that no two lists look alike.
    private static func joined(_ parts: [String]) -> Data {
        Data(parts.map { "\($0.utf8.count):\($0)" }.joined().utf8)
    }

    /// So that a hash that got out of the process tells nothing about a password.
    private static let key: Data = {
        var random = SystemRandomNumberGenerator()
        return Data((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) })
    }()
}
