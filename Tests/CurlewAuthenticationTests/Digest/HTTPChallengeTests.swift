// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewAuthentication

@Suite(.timeLimit(.minutes(1)))
struct HTTPChallengeTests {
    private func text(_ fields: String...) -> [String] {
        HTTPChallenge.list(fields).map { challenge in
            ([challenge.scheme] + challenge.parameters.map { "\($0.name)=\($0.value)" }).joined(separator: " ")
        }
    }

    @Test("Challenges of one field and of several are read in order")
    func lists() {
        // RFC 9110 §11.6.1.
        let example = #"Basic realm="simple", Newauth realm="apps", type=1, title="Login to \"apps\"""#
        let expected = ["basic realm=simple", #"newauth realm=apps type=1 title=Login to "apps""#]
        #expect(text(example) == expected)
        #expect(text(#"Basic realm="simple""#, #"Newauth realm="apps", type=1, title="Login to \"apps\"""#) == expected)
    }

    @Test(
        "Spaces, empty elements and bare schemes are read, tokens are skipped",
        arguments: [
            ("", []), (",, ,", []), ("Negotiate", ["negotiate"]),
            ("Negotiate, Basic realm=x", ["negotiate", "basic realm=x"]),
            ("Negotiate a+b/c==, Basic realm=x", ["negotiate", "basic realm=x"]),
            ("Digest realm = \"a, b\" ,nonce=\"\"", ["digest realm=a, b nonce="]),
            ("DIGEST Realm=a, Realm=b", ["digest realm=a realm=b"]), ("Bearer error=\"x\", ", ["bearer error=x"]),
        ])
    func shapes(field: String, expected: [String]) {
        #expect(text(field) == expected)
    }

    @Test("A malformed challenge ends its field and no other")
    func broken() {
        #expect(text("Basic realm=\"open", "Bearer a=b").contains("bearer a=b"))
        #expect(text("=x, Basic realm=a") == [])
    }

    @Test("Parameters and challenges over the limits are left out, and read as nothing else")
    func limits() {
        let many = (0..<100).map { "p\($0)=\($0)" }.joined(separator: ", ")
        let challenges = HTTPChallenge.list(["Digest \(many), basic=\"x\", Bearer a=b"])
        #expect(challenges.map(\.scheme) == ["digest", "bearer"])
        #expect(challenges.first?.parameters.count == 64)
        #expect(challenges.first?.parameters.last?.name == "p63")
        let schemes = Array(repeating: "Negotiate", count: 1000).joined(separator: ", ")
        #expect(HTTPChallenge.list([schemes, "Basic realm=a"]).count == 64)
    }

    @Test("The parameters of a field without a scheme are read")
    func bare() {
        let parameters = HTTPChallenge.parameters(of: #"nextnonce="a b", qop=auth"#)
        #expect(parameters.map(\.name) == ["nextnonce", "qop"] && parameters.map(\.value) == ["a b", "auth"])
    }
}
