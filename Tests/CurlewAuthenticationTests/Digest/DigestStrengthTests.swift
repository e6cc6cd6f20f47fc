// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewAuthentication
@testable import CurlewCore

/// Which challenges are too weak to be answered, and what else RFC 7616 asks for.
@Suite(.timeLimit(.minutes(1)))
struct DigestStrengthTests {
    private func receive(_ digest: inout DigestAuthenticator, _ fields: String) -> DigestAuthenticator.Verdict {
        digest.receive(HTTPChallenge.list(["Digest realm=r, " + fields]), sent: nil)
    }

    private func part(_ name: String, of field: String?) -> String? {
        field.flatMap { HTTPChallenge.list([$0]).first?[name] }
    }

    @Test("The strongest known algorithm of three is taken")
    func strongest() {
        var digest = DigestAuthenticator(user: "u", password: "p")
        let fields = ["SHA-512-256", "MD5", "SHA-256"].map { "Digest realm=r, nonce=n, qop=auth, algorithm=\($0)" }
        #expect(digest.receive(HTTPChallenge.list(fields), sent: nil) == .again)
        #expect(part("algorithm", of: digest.authorization(method: .get, target: "/")) == "SHA-256")
    }

    @Test("A challenge below the app's minimum is not met; SHA-256 is the default")
    func minimum() {
        let offers: [(String, BuiltInInterceptor.DigestMinimum)] = [
            ("nonce=n", .withoutProtection), ("nonce=n, algorithm=SHA-256", .withoutProtection),
            ("nonce=n, qop=auth", .md5), ("nonce=n, qop=auth, algorithm=MD5-sess", .md5),
            ("nonce=n, qop=auth, algorithm=SHA-256", .sha256),
        ]
        for (fields, strength) in offers {
            for minimum in [nil, .withoutProtection, .md5, .sha256] as [BuiltInInterceptor.DigestMinimum?] {
                var digest =
                    minimum.map { DigestAuthenticator(user: "u", password: "p", minimum: $0) }
                    ?? DigestAuthenticator(user: "u", password: "p")
                let wanted = minimum ?? .sha256
                let verdict = receive(&digest, fields)
                let isAnswered = strength >= wanted
                #expect(verdict == (isAnswered ? .again : .weak(offered: strength, wanted: wanted)), "\(fields)")
                #expect((digest.authorization(method: .get, target: "/") != nil) == isAnswered, "\(fields)")
            }
        }
    }

    @Test("After SHA-256, a challenge with MD5 or without qop is never met")
    func downgrade() {
        for weaker in [
            "nonce=evil, algorithm=MD5, stale=true", "nonce=evil, algorithm=MD5, qop=auth", "nonce=evil, stale=true",
            "nonce=evil, algorithm=SHA-256, stale=true",
        ] {
            var digest = DigestAuthenticator(user: "u", password: "p", minimum: .withoutProtection)
            #expect(receive(&digest, "nonce=n, algorithm=SHA-256, qop=auth") == .again)
            let sent = digest.authorization(method: .get, target: "/")
            let verdict = digest.receive(HTTPChallenge.list(["Digest realm=r, " + weaker]), sent: sent)
            if case .weak(_, .sha256) = verdict {} else { Issue.record("\(weaker): \(verdict)") }
            #expect(part("nonce", of: digest.authorization(method: .get, target: "/")) != "evil", "\(weaker)")
            // What is as strong goes on.
            #expect(receive(&digest, "nonce=n2, algorithm=SHA-256, qop=auth, stale=true") == .again)
        }
    }

    @Test("The response names an algorithm only if the challenge does (RFC 7616 section 3.4)")
    func unnamed() {
        var digest = DigestAuthenticator(user: "u", password: "p", minimum: .md5)
        #expect(receive(&digest, "nonce=n, qop=auth") == .again)
        let field = digest.authorization(method: .get, target: "/")
        #expect(field != nil && part("algorithm", of: field) == nil)
        var named = DigestAuthenticator(user: "u", password: "p", minimum: .md5)
        #expect(receive(&named, "nonce=n, qop=auth, algorithm=md5") == .again)
        #expect(part("algorithm", of: named.authorization(method: .get, target: "/")) == "MD5")
    }
}
