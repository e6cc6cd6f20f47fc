// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewAuthentication
@testable import CurlewCore

/// Digest authentication as values: the examples of RFC 7616, and what the servers do besides.
@Suite(.timeLimit(.minutes(1)))
struct DigestAuthenticatorTests {
    /// RFC 7616 §3.9.1.
    static let realm = #"realm="http-auth@example.org", qop="auth, auth-int""#
    static let nonces =
        #"nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS""#
    static let cnonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"

    static func mufasa(
        _ nonce: String = cnonce, minimum: BuiltInInterceptor.DigestMinimum = .withoutProtection
    ) -> DigestAuthenticator {
        DigestAuthenticator(user: "Mufasa", password: "Circle of Life", minimum: minimum) { nonce }
    }

    static func challenges(_ fields: String...) -> [HTTPChallenge] { HTTPChallenge.list(fields) }

    private func part(_ name: String, of field: String?) -> String? {
        field.flatMap { HTTPChallenge.list([$0]).first?[name] }
    }

    @Test(
        "The responses of RFC 7616 section 3.9.1 are computed",
        arguments: [
            ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
            ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
        ])
    func examples(algorithm: String, response: String) {
        var digest = Self.mufasa()
        #expect(digest.authorization(method: .get, target: "/dir/index.html") == nil)
        let challenge = "Digest \(Self.realm), algorithm=\(algorithm), \(Self.nonces)"
        #expect(digest.receive(Self.challenges(challenge), sent: nil) == .again)
        let field = digest.authorization(method: .get, target: "/dir/index.html")
        #expect(part("response", of: field) == response)
        #expect(part("nc", of: field) == "00000001" && part("qop", of: field) == "auth")
        #expect(part("username", of: field) == "Mufasa" && part("uri", of: field) == "/dir/index.html")
        #expect(part("cnonce", of: field) == Self.cnonce)
        #expect(part("opaque", of: field) == "FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS")
    }

    @Test("The response of RFC 2617 section 3.5 is computed, and that without qop (RFC 2069)")
    func older() {
        var digest = DigestAuthenticator(user: "Mufasa", password: "Circle Of Life", minimum: .withoutProtection) {
            "0a4f113b"
        }
        let nonce = #"realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093""#
        #expect(digest.receive(Self.challenges("Digest \(nonce), qop=\"auth,auth-int\""), sent: nil) == .again)
        let field = digest.authorization(method: .get, target: "/dir/index.html")
        #expect(part("response", of: field) == "6629fae49393a05397450978507c4ef1")
        var older = DigestAuthenticator(user: "Mufasa", password: "Circle Of Life", minimum: .withoutProtection) {
            "0a4f113b"
        }
        #expect(older.receive(Self.challenges("Digest \(nonce)"), sent: nil) == .again)
        let old = older.authorization(method: .get, target: "/dir/index.html")
        #expect(part("response", of: old) == "670fd8c2df070c60b045671b8b24ff02")
        #expect(part("qop", of: old) == nil && part("nc", of: old) == nil)
    }

    @Test("The user's hash of RFC 7616 section 3.4.4 replaces the name; other names are encoded")
    func names() {
        let user = "J\u{e4}s\u{f8}n Doe"
        var digest = DigestAuthenticator(user: user, password: "Secret, or not?") { Self.cnonce }
        let challenge = "Digest \(Self.realm), algorithm=SHA-256, \(Self.nonces)"
        _ = digest.receive(Self.challenges(challenge + ", userhash=true"), sent: nil)
        let hashed = digest.authorization(method: .get, target: "/")
        let expected = MessageDigest.sha256(Data("\(user):http-auth@example.org".utf8)).hexText
        #expect(part("username", of: hashed) == expected && part("userhash", of: hashed) == "true")
        var other = DigestAuthenticator(user: user, password: "Secret, or not?") { Self.cnonce }
        _ = other.receive(Self.challenges(challenge), sent: nil)
        let field = other.authorization(method: .get, target: "/")
        #expect(part("username*", of: field) == "UTF-8''J%C3%A4s%C3%B8n%20Doe")
    }

    @Test("The strongest offered algorithm is taken, in any order; unknown ones are ignored")
    func choice() {
        let rest = "\(Self.realm), \(Self.nonces)"
        for fields in [
            ["Digest \(rest), algorithm=MD5, Digest \(rest), algorithm=SHA-256, Basic realm=\"x\""],
            ["Digest \(rest), algorithm=SHA-256", "Digest \(rest)"],
            ["Negotiate abc==", "Digest algorithm=FUTURE, \(rest)", "Digest algorithm=SHA-256, \(rest)"],
        ] {
            var digest = Self.mufasa()
            #expect(digest.receive(HTTPChallenge.list(fields), sent: nil) == .again)
            #expect(part("algorithm", of: digest.authorization(method: .get, target: "/")) == "SHA-256")
        }
    }

    @Test(
        "A challenge that cannot be met is ignored",
        arguments: [
            "Basic realm=\"x\"", "Digest realm=\"x\"", "Digest nonce=\"n\", qop=\"auth-int\"",
            "Digest nonce=\"n\", algorithm=SHA-3", "Bearer", "",
        ])
    func unmet(field: String) {
        var digest = Self.mufasa()
        #expect(digest.receive(HTTPChallenge.list([field]), sent: nil) == .unmet)
        #expect(digest.authorization(method: .get, target: "/") == nil)
    }

    @Test("A nonce is used again with a rising count, until another one comes")
    func counting() throws {
        var digest = Self.mufasa()
        let challenge = "Digest \(Self.realm), algorithm=SHA-256, \(Self.nonces)"
        _ = digest.receive(Self.challenges(challenge), sent: nil)
        for count in 1...17 {
            let field = digest.authorization(method: .post, target: "/\(count)")
            #expect(part("nc", of: field) == "000000" + (count < 16 ? "0" : "") + String(count, radix: 16))
        }
        digest.receiveInfo(#"qop=auth, rspauth="x", nextnonce="another""#)
        let field = digest.authorization(method: .get, target: "/")
        #expect(part("nonce", of: field) == "another" && part("nc", of: field) == "00000001")
        // Too old: again, with the new one. Not too old: the password is wrong.
        let stale = "Digest \(Self.realm), algorithm=SHA-256, nonce=\"third\", stale=TRUE"
        #expect(digest.receive(Self.challenges(stale), sent: field) == .again)
        let last = digest.authorization(method: .get, target: "/")
        #expect(part("nonce", of: last) == "third")
        #expect(digest.receive(Self.challenges(challenge), sent: last) == .refused)
        let same = "Digest \(Self.realm), algorithm=SHA-256, nonce=\"third\""
        #expect(digest.receive(Self.challenges(same), sent: last) == .refused)
    }

    @Test("A refusal after forgotten nonces is tried again once; a wrong password is not")
    func forgotten() {
        var digest = Self.mufasa()
        var verdict = digest.receive(Self.challenges("Digest realm=r, nonce=n1"), sent: nil)
        #expect(verdict == .again)
        digest.succeed(digest.authorization(method: .get, target: "/") ?? "")
        let again = digest.authorization(method: .get, target: "/")
        verdict = digest.receive(Self.challenges("Digest realm=r, nonce=n2"), sent: again)
        #expect(verdict == .again)
        let last = digest.authorization(method: .get, target: "/")
        #expect(part("nonce", of: last) == "n2")
        verdict = digest.receive(Self.challenges("Digest realm=r, nonce=n3"), sent: last)
        #expect(verdict == .refused)
        // The next call begins again, and the password may be right by then.
        let next = digest.authorization(method: .get, target: "/")
        #expect(next == nil)
    }

    @Test("A nonce that another call has learnt stays, unless it does not hold here")
    func meanwhile() {
        var digest = Self.mufasa()
        _ = digest.receive(Self.challenges("Digest realm=r, nonce=n1, domain=\"/a\""), sent: nil)
        #expect(digest.receive(Self.challenges("Digest realm=r, nonce=n2"), to: "/a", sent: nil) == .again)
        #expect(part("nonce", of: digest.authorization(method: .get, target: "/a")) == "n1")
        let old = "Digest username=\"u\", nonce=\"n0\""
        #expect(digest.receive(Self.challenges("Digest realm=r, nonce=n3"), to: "/a", sent: old) == .again)
        #expect(part("nonce", of: digest.authorization(method: .get, target: "/a")) == "n1")
        #expect(digest.receive(Self.challenges("Digest realm=r, nonce=n4"), to: "/b", sent: nil) == .again)
        #expect(part("nonce", of: digest.authorization(method: .get, target: "/b")) == "n4")
    }

    @Test("A session's secret is made of its first nonces", arguments: ["MD5-sess", "sha-256-SESS"])
    func sessions(name: String) throws {
        let algorithm = try #require(DigestChallenge.Algorithm(name))
        let numbers = Locked(0)
        var digest = DigestAuthenticator(user: "u", password: "p", minimum: .md5) {
            numbers.withLock { number in
                number += 1
                return "c\(number)"
            }
        }
        _ = digest.receive(
            Self.challenges("Digest realm=\"r\", nonce=\"n\", qop=auth, algorithm=\(name)"), sent: nil)
        let secret = try #require(algorithm.digest("u:r:p").flatMap { algorithm.digest("\($0):n:c1") })
        for nc in ["00000001", "00000002"] {
            let field = digest.authorization(method: .get, target: "/x")
            let request = try #require(algorithm.digest("GET:/x"))
            #expect(part("response", of: field) == algorithm.digest("\(secret):n:\(nc):c1:auth:\(request)"))
            #expect(part("cnonce", of: field) == "c1")
        }
    }

    @Test("Outside of the protection space no credential is sent in advance")
    func space() {
        var digest = Self.mufasa()
        _ = digest.receive(
            Self.challenges("Digest realm=r, nonce=n, domain=\"/private /exact https://other.test/\""), sent: nil)
        for (target, isCovered) in [
            ("/private", true), ("/private/x?y=/", true), ("/privateer", false), ("/exact?q", true), ("/", false),
        ] {
            #expect((digest.authorization(method: .get, target: target) != nil) == isCovered, "\(target)")
        }
    }

    @Test("Quotes in a challenge are returned as they were")
    func quotes() {
        var digest = Self.mufasa()
        _ = digest.receive(Self.challenges(#"Digest realm="a\"b\\c", nonce="n\"1", opaque="\"""#), sent: nil)
        let field = digest.authorization(method: .get, target: "/")
        #expect(part("realm", of: field) == #"a"b\c"# && part("nonce", of: field) == "n\"1")
        #expect(part("opaque", of: field) == "\"")
    }

    @Test("Random challenges never trap", arguments: UInt64(0)..<20)
    func fuzz(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let pieces = [
            "Digest ", "Basic ", "realm=", "nonce=", "\"", "\\", ",", "=", "qop=auth", "algorithm=MD5", " ", "x", "ü",
            "\t",
            "stale=true", "domain=\"/a\"",
        ]
        var digest = Self.mufasa()
        for _ in 0..<500 {
            let text = (0..<12).map { _ in pieces[Int.random(in: 0..<pieces.count, using: &random)] }.joined()
            let sent = digest.authorization(method: .get, target: "/a")
            _ = digest.receive(HTTPChallenge.list([text]), sent: sent)
            digest.receiveInfo(text)
            var headers = HTTPHeaders()
            headers[.authorization] = digest.authorization(method: .get, target: "/a") ?? "none"
            #expect(headers.problem == nil, "seed \(seed): \(text)")
        }
    }
}
