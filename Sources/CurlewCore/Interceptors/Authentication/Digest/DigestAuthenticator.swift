// SPDX-License-Identifier: MIT

import CurlewHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Digest authentication (RFC 7616) with one server, without I/O: takes challenges, gives `Authorization` fields.
///
/// Algorithms: SHA-512-256, SHA-256 and MD5, each also as a session; the strongest that is offered is taken. Quality of
/// protection: `auth`, or none where an old server offers none (RFC 2069). `auth-int` alone, and algorithms that are not
/// known, are challenges that cannot be met. Nothing weaker than the minimum is answered, and nothing weaker than what the
/// server has offered before: a challenge that suddenly is comes from somebody else. A nonce is used again with a
/// rising count until the server names another one.
struct DigestAuthenticator {
    /// What became of a challenge.
    enum Verdict: Equatable {
        /// The request may be sent again, and will get another answer.
        case again
        /// The server has seen the right nonce and did not like user or password.
        case refused
        /// Nothing that can be met is asked for.
        case unmet
        /// What is asked for could be met, and is weaker than allowed.
        case weak(offered: DigestMinimum, wanted: DigestMinimum)
    }

    private struct Session {
        let challenge: DigestChallenge
        var nonce: String
        var count: UInt32 = 0
        /// The server has let us in: user and password are right.
        var hasWorked = false
        /// Of the user, the realm and the password; for the session algorithms of the first nonces as well.
        let secret: String
        let cnonce: String
    }

    let user: String
    let password: String
    private let makeNonce: @Sendable () -> String
    /// The app's minimum, or the strongest that the server has offered since.
    private var minimum: DigestMinimum
    private var session: Session?

    /// - `makeNonce`: our own nonces, which must not repeat.
    init(
        user: String, password: String, minimum: DigestMinimum = .sha256,
        makeNonce: @escaping @Sendable () -> String = DigestAuthenticator.randomNonce
    ) {
        self.user = user
        self.password = password
        self.minimum = minimum
        self.makeNonce = makeNonce
    }

    /// The field for a request; nil before a challenge has been met, and outside of the space that it named.
    mutating func authorization(method: HTTPMethod, target: String) -> String? {
        guard var current = session, current.challenge.covers(target) else { return nil }
        if current.count == .max { return nil }
        current.count += 1
        session = current
        let challenge = current.challenge
        let hash = challenge.algorithm.digest
        let cnonce = challenge.algorithm.isSession ? current.cnonce : makeNonce()
        let count = String(current.count, radix: 16)
        let nc = String(repeating: "0", count: 8 - count.count) + count
        guard let request = hash("\(method.rawValue):\(target)") else { return nil }
        let middle = challenge.hasProtection ? "\(current.nonce):\(nc):\(cnonce):auth" : current.nonce
        guard let response = hash("\(current.secret):\(middle):\(request)") else { return nil }

        var fields: [String] = []
        if challenge.hashesUser, let hashed = hash("\(user):\(challenge.realm)") {
            fields += ["username=\"\(hashed)\"", "userhash=true"]
        } else if user.utf8.allSatisfy({ $0 < 0x80 }) {
            fields.append("username=\(Self.quoted(user))")
        } else {
            fields.append("username*=UTF-8''\(Self.extended(user))")
        }
        fields += ["realm=\(Self.quoted(challenge.realm))", "uri=\"\(target)\""]
        if challenge.namesAlgorithm { fields.append("algorithm=\(challenge.algorithm.name)") }
        fields.append("nonce=\(Self.quoted(current.nonce))")
        if challenge.hasProtection { fields += ["nc=\(nc)", "cnonce=\"\(cnonce)\"", "qop=auth"] }
        fields.append("response=\"\(response)\"")
        if let opaque = challenge.opaque { fields.append("opaque=\(Self.quoted(opaque))") }
        return "Digest " + fields.joined(separator: ", ")
    }

    /// Takes the challenges of a 401 to a request for `target`.
    ///
    /// - `sent`: the field that the request was sent with; nil if with none.
    mutating func receive(_ challenges: [HTTPChallenge], to target: String = "/", sent: String?) -> Verdict {
        let offers = challenges.compactMap { DigestChallenge($0) }
        guard let best = offers.max(by: { $0.strength < $1.strength }) else { return .unmet }
        guard best.strength >= minimum else { return .weak(offered: best.strength, wanted: minimum) }
        minimum = best.strength
        // Another call has met a challenge meanwhile: what it learnt is as good, and many calls at once stay with one
        // nonce.
        if let session, session.challenge.covers(target), !Self.uses(sent, session.nonce) { return .again }
        if let sent, !best.isStale {
            // The same nonce again, not called stale: what was wrong is the password. A new nonce in the same realm and
            // not for age means the same with most servers, unless they have let us in before: then they have forgotten
            // the old one, and do not say so.
            let isForgotten = session.map { $0.hasWorked || $0.challenge.realm != best.realm } ?? true
            if Self.uses(sent, best.nonce) || !isForgotten {
                // So that the next call begins anew: somebody may have put the password right.
                session = nil
                return .refused
            }
        }
        let cnonce = makeNonce()
        guard let session = open(best, cnonce) else { return .unmet }
        self.session = session
        return .again
    }

    /// The server took the field.
    mutating func succeed(_ sent: String) {
        if let session, !session.hasWorked, Self.uses(sent, session.nonce) { self.session?.hasWorked = true }
    }

    /// Takes `Authentication-Info`: the server may name the next nonce in advance.
    mutating func receiveInfo(_ field: String) {
        let next = HTTPChallenge.parameters(of: field).first { $0.name == "nextnonce" }?.value
        guard let next, !next.isEmpty, next.utf8.count <= DigestChallenge.lengthLimit, next != session?.nonce else {
            return
        }
        session?.nonce = next
        session?.count = 0
    }

    private func open(_ challenge: DigestChallenge, _ cnonce: String) -> Session? {
        let hash = challenge.algorithm.digest
        guard var secret = hash("\(user):\(challenge.realm):\(password)") else { return nil }
        if challenge.algorithm.isSession {
            guard let bound = hash("\(secret):\(challenge.nonce):\(cnonce)") else { return nil }
            secret = bound
        }
        return Session(challenge: challenge, nonce: challenge.nonce, secret: secret, cnonce: cnonce)
    }

    private static func uses(_ field: String?, _ nonce: String) -> Bool {
        // By bytes, as everything that is compared here.
        guard let field = field?.utf8 else { return false }
        let wanted = Array(" nonce=\(quoted(nonce))".utf8)
        return field.indices.contains { field[$0...].starts(with: wanted) }
    }

    private static func quoted(_ text: String) -> String {
        // By scalars: a quote with a combining mark behind it is another `Character`.
        let escaped = text.unicodeScalars.reduce(into: "") { escaped, scalar in
            if scalar == "\\" || scalar == "\"" { escaped.unicodeScalars.append("\\") }
            escaped.unicodeScalars.append(scalar)
        }
        return "\"\(escaped)\""
    }

    /// RFC 8187 §3.2.1, with fewer bytes left as they are than it allows.
    private static func extended(_ text: String) -> String {
        text.utf8.map { isPlain($0) ? String(Unicode.Scalar($0)) : "%" + Data([$0]).hexText.uppercased() }
            .joined()
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }

    /// 128 bits by the system's generator.
    static func randomNonce() -> String {
        var random = SystemRandomNumberGenerator()
        return withUnsafeBytes(of: (random.next(), random.next()) as (UInt64, UInt64)) { Data($0).hexText }
    }
}

extension DigestAuthenticator: CustomStringConvertible, CustomReflectable {
    /// Neither user nor password.
    var description: String { "DigestAuthenticator" }

    var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
