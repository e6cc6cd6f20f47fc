// SPDX-License-Identifier: MIT

import Testing

@Suite(.timeLimit(.minutes(1)))
struct HTTPMethodTests {
    @Test(
        "Safety and idempotency follow RFC 9110 §9.2, QUERY RFC 10008",
        arguments: [
            ("GET", true, true), ("HEAD", true, true), ("OPTIONS", true, true), ("TRACE", true, true),
            ("QUERY", true, true), ("PUT", false, true), ("DELETE", false, true), ("POST", false, false),
            ("PATCH", false, false), ("CONNECT", false, false), ("PURGE", false, false), ("get", false, false),
        ] as [(String, Bool, Bool)])
    func properties(name: String, safe: Bool, idempotent: Bool) {
        let method = HTTPMethod(rawValue: name)
        #expect(method.isSafe == safe)
        #expect(method.isIdempotent == idempotent)
        #expect(method.description == name)
    }

    @Test("A name is kept verbatim and compared with regard to case")
    func verbatim() {
        #expect(HTTPMethod(rawValue: "get").rawValue == "get")
        #expect(HTTPMethod(rawValue: "get") != .get)
        #expect(HTTPMethod(rawValue: "GET") == .get)
        let literal: HTTPMethod = "M-SEARCH"
        #expect(literal.rawValue == "M-SEARCH")
    }

    @Test("Only tokens are valid", arguments: ["", "GET /", "GET\r\nX: y", "GÉT", "A:B", "G\u{0}T", " GET"])
    func invalid(name: String) {
        #expect(!HTTPMethod(rawValue: name).isValid)
    }

    @Test("Every token is valid", arguments: ["GET", "get", "M-SEARCH", "!#$%&'*+-.^_`|~09"])
    func valid(name: String) {
        #expect(HTTPMethod(rawValue: name).isValid)
    }
}
