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
    /// Nobody: no credential goes with the request, and no field that is not known to be harmless.
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

    /// Who is named by the fields of a request: each field counts that is not known to be harmless
    /// (`HTTPField.Name.isHarmless`), and each that was declared as secret.
    ///
    /// A field of an unknown name may be a credential or the number of a user, so its value is part of the principal.
    /// Requests with equal values are one party: nothing else in them could tell two users apart. The order of fields
    /// of different names does not count. All values are hashed with the key of the process: a lasting hash, without a
    /// key, would let a reader of the store find out a short secret by trying.
    init(of request: HTTPRequest, secrets: Set<HTTPField.Name> = []) {
        let fields = request.headers.filter { !$0.name.isHarmless || secrets.contains($0.name) }
        if fields.isEmpty {
            self = .anonymous
            return
        }
        let sorted = fields.enumerated().map { (name: $1.name.text.lowercased(), place: $0, value: $1.value) }
            .sorted { ($0.name, $0.place) < ($1.name, $1.place) }
        self = .holder(of: sorted.flatMap { [$0.name, $0.value] })
    }

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
