// SPDX-License-Identifier: MIT

package import CurlewFoundation
import CurlewHTTP

/// The user or other party on whose behalf a request is sent, as far as the party is known before sending. A principal
/// is part of the keys of components that store or share responses. See `Next.principal(of:)`.
///
/// Equal values mean the same party, or none. Different values may still mean one party: an account that signs in again
/// becomes another principal. Two users never share a principal, whatever their tokens contain.
public enum Principal: Hashable, Sendable {
    /// No user or other party: the request has no credential, and all of its fields are known to be harmless.
    case anonymous
    /// One party, identified by a string that discloses no credential.
    ///
    /// - `isLasting`: whether the string identifies the same party after the process restarts. Credentials are hashed:
    ///   with the key of a persistent store the string is lasting, with the key of the process it is not.
    case known(String, isLasting: Bool)
    /// The request may have a credential of an unknown party. Its responses must be neither stored nor shared.
    case unknown
}

extension Principal {
    /// Combines this principal with another one, for a request whose response depends on several credentials.
    mutating func join(_ other: Principal) {
        switch (self, other) {
        case (_, .anonymous): break
        case (.anonymous, _): self = other
        case (.known(let mine, let lasts), .known(let theirs, let alsoLasts)):
            self = .known("\(mine)+\(theirs)", isLasting: lasts && alsoLasts)
        case (.unknown, _), (_, .unknown): self = .unknown
        }
    }

    /// Returns the principal that a credential identifies. The parts are hashed, so the principal does not disclose
    /// them. Its `isLasting` is true if the hash uses the key of a persistent store.
    ///
    /// Interceptors and transports that attach credentials call this method. The first part is the kind of the
    /// credential, such as `device`; the others distinguish its holders.
    public static func holder(of parts: [String], in context: ExchangeContext) -> Principal {
        let key = context.principalKey ?? .process
        let text = MessageDigest.hmacSHA256(joined(parts), key: key.bytes).hexText
        return .known("holder-" + text, isLasting: key.isLasting)
    }

    /// Creates the principal that the fields of a request identify: each field, and each cookie, that is neither known
    /// nor declared to be harmless (`Redaction.Rules`).
    ///
    /// A field with an unknown name may be a credential or identify a user, so its value is part of the principal.
    /// Requests with equal values belong to one party, because nothing else in them distinguishes users. The order of
    /// fields with different names is ignored.
    init(of request: HTTPRequest, in context: ExchangeContext) {
        let rules = context.fields
        let declared = context.forwardedFields.secret
        var fields: [(name: String, value: String)] = []
        for field in request.headers where !rules.isHarmless(field.name) || declared.contains(field.name) {
            let value = field.name == .cookie ? rules.identifying(cookie: field.value) : field.value
            if let value { fields.append((field.name.text.lowercased(), value)) }
        }
        if fields.isEmpty {
            self = .anonymous
            return
        }
        let ordered = fields.count == 1 ? fields : fields.ordered { $0.name < $1.name }
        self = .holder(of: ordered.flatMap { [$0.name, $0.value] }, in: context)
    }

    /// Joins the parts, each prefixed with its length, so that different lists have different results.
    package static func joined(_ parts: [String]) -> Data {
        Data(parts.map { "\($0.utf8.count):\($0)" }.joined().utf8)
    }
}

/// The key with which credentials are hashed into principals.
///
/// Without a key, an attacker who reads a principal could find a short secret by trying all values. Most keys belong to
/// the process: their principals are meaningless outside it. A store that outlives the process has its own key
/// (`HTTPCache.Store.principalKey`).
struct PrincipalKey: Sendable {
    let bytes: Data
    /// Whether later processes have the same key.
    let isLasting: Bool

    static let process = PrincipalKey(bytes: Data((0..<32).map { _ in .random(in: .min ... .max) }), isLasting: false)
}
