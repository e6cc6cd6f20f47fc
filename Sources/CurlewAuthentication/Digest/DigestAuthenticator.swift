// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// The state of digest authentication (RFC 7616) with one server. It receives challenges and creates `Authorization`
/// fields, without I/O.
///
/// - Algorithms: SHA-256 and MD5, each also in its session variant (`-sess`). The strongest algorithm that the server
///   offers is used. SHA-512-256 is unknown, because the systems' libraries do not all have it.
/// - Quality of protection: `auth`, or none if an old server offers none (RFC 2069). A challenge with only `auth-int`,
///   or with an unknown algorithm, is not supported.
/// - A challenge weaker than the minimum is refused, and so is a challenge weaker than an earlier one from the server:
///   a sudden downgrade indicates an attacker.
/// - A nonce is reused with an increasing count until the server sends another nonce.
struct DigestAuthenticator {
    enum Verdict: Equatable {
        /// The request can be sent again with a new credential.
        case again
        /// The server received a credential with a valid nonce and rejected the user name or password.
        case refused
        /// No challenge is supported.
        case unmet
        /// The strongest supported challenge is weaker than allowed.
        case weak(offered: BuiltInInterceptor.DigestMinimum, wanted: BuiltInInterceptor.DigestMinimum)
    }

    private struct Session {
        let challenge: DigestChallenge
        var nonce: String
        var count: UInt32 = 0
        /// Whether the server has accepted the user name and password.
        var hasWorked = false
        /// The hash of user name, realm and password. With a session algorithm, it also covers the first server nonce
        /// and the client nonce.
        let secret: String
        let cnonce: String
    }

    let user: String
    let password: String
    private let makeNonce: @Sendable () -> String
    /// The weakest level that is accepted: the app's minimum, or the strongest level that the server has offered, if
    /// that is stronger.
    private var minimum: BuiltInInterceptor.DigestMinimum
    private var session: Session?

    /// Creates the state for a server that has sent no challenge.
    ///
    /// - `makeNonce`: returns client nonces. They must not repeat.
    init(
        user: String, password: String, minimum: BuiltInInterceptor.DigestMinimum = .sha256,
        makeNonce: @escaping @Sendable () -> String = DigestAuthenticator.randomNonce
    ) {
        self.user = user
        self.password = password
        self.minimum = minimum
        self.makeNonce = makeNonce
    }

    /// Returns the value of the `Authorization` field for a request. Returns nil before a supported challenge has
    /// arrived, for a target outside the protection space, and if the nonce has been used 2³² − 1 times.
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

    /// Handles the challenges of a 401 response to a request for `target`.
    ///
    /// - `sent`: the `Authorization` field of the request; nil if it had none.
    mutating func receive(_ challenges: [HTTPChallenge], to target: String = "/", sent: String?) -> Verdict {
        let offers = challenges.compactMap { DigestChallenge($0) }
        guard let best = offers.max(by: { $0.strength < $1.strength }) else { return .unmet }
        guard best.strength >= minimum else { return .weak(offered: best.strength, wanted: minimum) }
        minimum = best.strength
        // Another call has handled a challenge in the meantime. Its session is just as good, and concurrent calls keep
        // using one nonce.
        if let session, session.challenge.covers(target), !Self.uses(sent, session.nonce) { return .again }
        if let sent, !best.isStale {
            // If the same nonce is repeated and not marked stale, the password is wrong. A new nonce in the same realm
            // that is not marked stale means the same with most servers. The exception is a server that has already
            // accepted the password: it has discarded the old nonce without marking it stale.
            let isForgotten = session.map { $0.hasWorked || $0.challenge.realm != best.realm } ?? true
            if Self.uses(sent, best.nonce) || !isForgotten {
                // Lets the next call start over, as the password may have been corrected on the server.
                session = nil
                return .refused
            }
        }
        let cnonce = makeNonce()
        guard let session = open(best, cnonce) else { return .unmet }
        self.session = session
        return .again
    }

    /// Records that the server accepted the `Authorization` field `sent`.
    mutating func succeed(_ sent: String) {
        if let session, !session.hasWorked, Self.uses(sent, session.nonce) { self.session?.hasWorked = true }
    }

    /// Handles the `Authentication-Info` field, in which the server may send the next nonce in advance.
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
        // Compares bytes, because equal strings may differ in their encoding.
        guard let field = field?.utf8 else { return false }
        let wanted = Array(" nonce=\(quoted(nonce))".utf8)
        return field.indices.contains { field[$0...].starts(with: wanted) }
    }

    private static func quoted(_ text: String) -> String {
        // Iterates over scalars: a quote followed by a combining mark is a different `Character`.
        let escaped = text.unicodeScalars.reduce(into: "") { escaped, scalar in
            if scalar == "\\" || scalar == "\"" { escaped.unicodeScalars.append("\\") }
            escaped.unicodeScalars.append(scalar)
        }
        return "\"\(escaped)\""
    }

    /// Returns `text` as an extended value (RFC 8187 §3.2.1). Escapes every byte except ASCII letters and digits; the
    /// RFC requires fewer escapes.
    private static func extended(_ text: String) -> String {
        text.utf8.map { byte in
            let isPlain = ASCII.isLetter(byte) || ASCII.isDigit(byte)
            return isPlain ? String(Unicode.Scalar(byte)) : "%" + Data([byte]).hexText.uppercased()
        }.joined()
    }

    /// Returns 128 random bits from the system's generator, in hexadecimal.
    static func randomNonce() -> String {
        var random = SystemRandomNumberGenerator()
        return withUnsafeBytes(of: (random.next(), random.next()) as (UInt64, UInt64)) { Data($0).hexText }
    }
}

extension DigestAuthenticator: MirroredByDescription {
    /// The name of the type. It contains neither the user name nor the password.
    var description: String { "DigestAuthenticator" }
}
