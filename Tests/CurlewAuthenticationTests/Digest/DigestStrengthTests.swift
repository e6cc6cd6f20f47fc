// SPDX-License-Identifier: MIT

import CurlewHTTP
import CurlewTesting
import Foundation
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

    @Test(
        "SHA-512/256 of the standard's example, and of lengths about the end of a block",
        arguments: [
            ("abc", "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23"),
            ("", "c672b8d1ef56ed28ab87c3622c5114069bdd3ad7b8f9737498d0c01ecef0967a"),
            (String(repeating: "a", count: 111), "0239e429f98d0ed61ee8e2a7c30afe98c1c3a80ce5dff62a107e9c538f7632ce"),
            (String(repeating: "a", count: 112), "9216b5303edb66504570bee90e48ea5beaa5e9fe9f760bbd3e0460559fc005f6"),
            (String(repeating: "a", count: 127), "2fe3b2a6ee7e12f6fe4ba82166541ad9b4ed882c493581cbe300d68f3757b778"),
            (String(repeating: "a", count: 128), "b88f97e274f9c1d49f181c8cbd01a9c74930ad055a46ac4499a1d601f1c80bf2"),
            (String(repeating: "a", count: 129), "fb9035c9009ed4a60e37510339ebdb1c771339f30aa581d5dea3690a524c23f1"),
            (String(repeating: "a", count: 1000), "40eb4a70d4d69815407a9e272f0101cd67e3d11262a4a0bfc087712749c7fb53"),
        ])
    func hash(text: String, expected: String) {
        #expect(SHA512Trunc256.hash(Data(text.utf8)).hexText == expected)
    }

    /// The hashes are those of erratum 4897: the text has ones of a draft of the function.
    @Test("the example of RFC 7616 section 3.9.2: SHA-512-256 with the hash of the user")
    func example() {
        let user = "J\u{e4}s\u{f8}n Doe"
        var digest = DigestAuthenticator(user: user, password: "Secret, or not?") {
            "NTg6RKcb9boFIAS3KrFK9BGeh+iDa/sm6jUMp2wds69v"
        }
        let challenge = #"""
            Digest realm="api@example.org", qop="auth", algorithm=SHA-512-256,
             nonce="5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK", opaque="HRPCssKJSGjCrkzDg8OhwpzCiGPChXYjwrI2QmXDnsOS",
             charset=UTF-8, userhash=true
            """#.replacingOccurrences(of: "\n", with: "")
        #expect(digest.receive(HTTPChallenge.list([challenge]), sent: nil) == .again)
        let field = digest.authorization(method: .get, target: "/doe.json")
        #expect(part("username", of: field) == "793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b")
        #expect(part("response", of: field) == "3798d4131c277846293534c3edc11bd8a5e4cdcbff78b05db9d95eeb1cec68a5")
        #expect(part("algorithm", of: field) == "SHA-512-256")
    }

    @Test("the strongest of three is taken")
    func strongest() {
        var digest = DigestAuthenticator(user: "u", password: "p")
        let fields = ["MD5", "SHA-512-256", "SHA-256"].map { "Digest realm=r, nonce=n, qop=auth, algorithm=\($0)" }
        #expect(digest.receive(HTTPChallenge.list(fields), sent: nil) == .again)
        #expect(part("algorithm", of: digest.authorization(method: .get, target: "/")) == "SHA-512-256")
    }

    @Test("what is weaker than the app's minimum is not answered; SHA-256 is the default")
    func minimum() {
        let offers: [(String, BuiltInInterceptor.DigestMinimum)] = [
            ("nonce=n", .withoutProtection), ("nonce=n, algorithm=SHA-512-256", .withoutProtection),
            ("nonce=n, qop=auth", .md5), ("nonce=n, qop=auth, algorithm=MD5-sess", .md5),
            ("nonce=n, qop=auth, algorithm=SHA-256", .sha256),
            ("nonce=n, qop=auth, algorithm=SHA-512-256", .sha512Trunc256),
        ]
        for (fields, strength) in offers {
            for minimum in [nil, .withoutProtection, .md5, .sha256, .sha512Trunc256]
                as [BuiltInInterceptor.DigestMinimum?]
            {
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

    @Test("after SHA-256, a challenge with MD5 or without qop is not answered, stale or not, whatever the app allows")
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

    @Test("the response names an algorithm only if the challenge does (RFC 7616 section 3.4)")
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
