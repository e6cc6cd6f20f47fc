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
    ///   this one: credentials are hashed with a key of the process, or with one of the store that asks.
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

    /// Whether the next process would give it the same text.
    var isLasting: Bool {
        if case .known(_, false) = self { false } else { true }
    }

    /// The text of `.known`; nil for `.anonymous` and `.unknown`.
    public var text: String? {
        if case .known(let text, _) = self { text } else { nil }
    }

    /// Who has signed in: a random text for each sign-in.
    static func session(_ identifier: String) -> Principal { .known("session-" + identifier, isLasting: true) }

    /// Whom the app names. Hashed, because a name may be an address of a person.
    static func named(_ name: String?, as kind: String) -> Principal {
        guard let name, !name.isEmpty else { return .unknown }
        return .known("name-" + MessageDigest.sha256(joined([kind, name])).hexText, isLasting: true)
    }

    /// Who has this credential. The text does not disclose it: the parts are hashed with a key. The principal lasts
    /// where the store that asks has a key that lasts.
    ///
    /// For interceptors and transports that attach credentials: name the kind first, then what tells two holders apart.
    public static func holder(of parts: [String], in context: ExchangeContext) -> Principal {
        let key = context.principalKey ?? .process
        let text = MessageDigest.hmacSHA256(joined(parts), key: key.bytes).hexText
        return .known("holder-" + text, isLasting: key.isLasting)
    }

    /// Who is named by the fields of a request: each field counts that is not known to be harmless (`FieldRules`), and
    /// each cookie.
    ///
    /// A field of an unknown name may be a credential or the number of a user, so its value is part of the principal.
    /// Requests with equal values are one party: nothing else in them could tell two users apart. The order of fields
    /// of different names does not count.
    init(of request: HTTPRequest, in context: ExchangeContext) {
        let rules = context.fields
        let declared = context.forwardedFields.secret
        var fields: [(name: String, place: Int, value: String)] = []
        for (place, field) in request.headers.enumerated()
        where !rules.isHarmless(field.name) || declared.contains(field.name) {
            let value = field.name == .cookie ? rules.identifying(cookie: field.value) : field.value
            if let value { fields.append((field.name.text.lowercased(), place, value)) }
        }
        if fields.isEmpty {
            self = .anonymous
            return
        }
        fields.sort { ($0.name, $0.place) < ($1.name, $1.place) }
        self = .holder(of: fields.flatMap { [$0.name, $0.value] }, in: context)
    }

    /// Each part with its length, so that no two lists look alike.
    private static func joined(_ parts: [String]) -> Data {
        Data(parts.map { "\($0.utf8.count):\($0)" }.joined().utf8)
    }
}
