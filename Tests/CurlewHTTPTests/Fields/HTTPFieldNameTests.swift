// SPDX-License-Identifier: MIT

import ConformanceCases
import Testing

@testable import CurlewHTTP

@Suite(.timeLimit(.minutes(1)))
struct HTTPFieldNameTests {
    @Test(
        "Names are equal up to the case of A-Z, and then hash alike (RFC 9110 §5.1)",
        arguments: [
            ("Content-Type", "content-type"), ("ETag", "etag"), ("X-REQUEST-ID-OF-MANY", "x-request-id-of-many"),
            ("", ""), ("a", "A"), ("12345678", "12345678"),
        ])
    func equal(left: String, right: String) {
        #expect(HTTPField.Name(left) == HTTPField.Name(right))
        #expect(HTTPField.Name(left).hashValue == HTTPField.Name(right).hashValue)
        #expect(Set([HTTPField.Name(left), HTTPField.Name(right)]).count == 1)
    }

    @Test(
        "Bytes that differ by 32 but are no letters are different",
        arguments: [("a@", "a`"), ("[", "{"), ("^", "~"), ("X-A", "X-B"), ("X", "XX"), ("É", "é"), ("K", "\u{212A}")])
    func different(left: String, right: String) {
        #expect(HTTPField.Name(left) != HTTPField.Name(right))
    }

    @Test("A name keeps its spelling")
    func spelling() {
        let name: HTTPField.Name = "x-REQUEST-id"
        #expect(name == .xRequestID)
        #expect(name.text == "x-REQUEST-id")
        #expect(name.description == "x-REQUEST-id")
    }

    @Test("The fields that carry secrets are known in any spelling")
    func sensitive() {
        let secrets: [HTTPField.Name] = [.authorization, "Proxy-Authorization", .cookie, .setCookie, "x-api-key"]
        for name in secrets { #expect(name.isSensitive, "\(name)") }
        for name in [HTTPField.Name.accept, .contentType, .eTag] { #expect(!name.isSensitive, "\(name)") }
    }

    @Test("Fields that identify no user are known in any spelling, by whole names, and are no secrets")
    func harmless() {
        let names = ["Accept", "IF-NONE-MATCH", "traceparent", "x-request-id"]
        for name in names { #expect(HTTPField.Name(name).isHarmless, "\(name)") }
        let others = [
            "Accept-Token", "Content-Key", "If-User", "X-B3-User", "X-Accept", "baggage", "From", "Referer", "Origin",
            "Host", "Forwarded", "Sec-WebSocket-Protocol", "",
        ]
        for name in others + IdentityWay.names { #expect(!HTTPField.Name(name).isHarmless, "\(name)") }
        for name in HTTPField.Name.harmless { #expect(!name.isSensitive && name.isValid, "\(name)") }
        #expect(HTTPField.Name.tracing.isSubset(of: HTTPField.Name.harmless))
    }

    @Test("A field shows its value unless it is a secret")
    func description() {
        #expect(HTTPField(name: .accept, value: "*/*").description == "Accept: */*")
        #expect(!HTTPField(name: .authorization, value: "Bearer abc").description.contains("abc"))
    }
}
