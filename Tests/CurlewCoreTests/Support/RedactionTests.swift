// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewAuthentication
@testable import CurlewCookies
@testable import CurlewCore

@Suite(.timeLimit(.minutes(1)))
struct RedactionTests {
    @Test(
        "A URL loses its user, and the values of secret names in query and fragment",
        arguments: [
            ("https://a.test/x?page=2", "https://a.test/x?page=2"),
            ("https://a.test/x?token=abc&page=2", "https://a.test/x?token=REDACTED&page=2"),
            ("https://a.test/x?Access-Token=abc", "https://a.test/x?Access-Token=REDACTED"),
            ("https://a.test/x?user[new_password]=abc", "https://a.test/x?user[new_password]=REDACTED"),
            ("https://a.test/x?user%5Bpassword%5D=abc", "https://a.test/x?user%5Bpassword%5D=REDACTED"),
            ("https://a.test/x?a=1;token=abc", "https://a.test/x?a=1;token=REDACTED"),
            ("https://a.test/x?token=ab;c&d=1", "https://a.test/x?token=REDACTED&d=1"),
            ("https://a.test/x?token=a=b=c", "https://a.test/x?token=REDACTED"),
            ("https://a.test/x?X-Amz-Signature=abc", "https://a.test/x?X-Amz-Signature=REDACTED"),
            ("https://a.test/x?code=abc&state=1", "https://a.test/x?code=REDACTED&state=1"),
            ("https://a.test/cb#access_token=abc&type=x", "https://a.test/cb#access_token=REDACTED&type=x"),
            ("https://a.test/#/cb?token=abc", "https://a.test/#/cb?token=REDACTED"),
            ("https://ada:pw@a.test/x", "https://a.test/x"),
            ("https://ada:p@w@a.test/x?y=@", "https://a.test/x?y=@"),
            ("https://a.test/mail@x?y=1", "https://a.test/mail@x?y=1"),
            ("/cb?token=abc", "/cb?token=REDACTED"), ("?", "?"), ("", ""), ("https://a.test?&&=", "https://a.test?&&="),
        ])
    func urls(url: String, expected: String) {
        #expect(Redaction.standard.url(url) == expected)
    }

    @Test(
        "Secret header fields lose their values, whatever the case of their names",
        arguments: [
            "Authorization", "authorization", "PROXY-AUTHORIZATION", "Cookie", "Set-Cookie", "X-Api-Key",
            "X-CSRF-Token", "x-amz-security-token",
        ])
    func headers(name: String) {
        let headers = HTTPHeaders([HTTPField(name: HTTPField.Name(name), value: "hunter2")])
        let shown = Redaction.standard.headers(headers)
        #expect(shown.map(\.value) == ["REDACTED"])
        #expect(shown.map(\.name.text) == [name])
    }

    @Test("Fields that hold a URL keep it without its secrets, other fields stay")
    func urlHeaders() {
        let headers: HTTPHeaders = [
            .location: "https://app.test/cb?code=abc&state=1", .referer: "https://u:p@a.test/", .accept: "text/html",
        ]
        let shown = Redaction.standard.headers(headers)
        #expect(shown[.location] == "https://app.test/cb?code=REDACTED&state=1")
        #expect(shown[.referer] == "https://a.test/")
        #expect(shown[.accept] == "text/html")
    }

    @Test(
        "A field of any name hides secrets of a URL in its value, and shows ordinary values",
        arguments: [
            ("/cb?token=abc&a=1", "/cb?token=REDACTED&a=1"), ("cb?token=abc", "cb?token=REDACTED"),
            ("/cb;token=abc/x", "/cb;token=REDACTED/x"), ("//u:p@a.test/", "//a.test/"),
            ("see https://a.test/#access_token=abc", "see https://a.test/#access_token=REDACTED"),
            (#"a="https://u:p@a.test/?sig=abc""#, #"a="https://a.test/?sig=REDACTED"#),
            ("https%3A%2F%2Fa.test%2F%3Ftoken%3Dabc", "https%3A%2F%2Fa.test%2F%3Ftoken%3DREDACTED"),
            ("?1", "?1"), ("text/html, */*;q=0.8", "text/html, */*;q=0.8"), ("ann@a.test", "ann@a.test"),
            ("Mozilla/5.0 (compatible; +http://a.test/bot)", "Mozilla/5.0 (compatible; +http://a.test/bot)"),
            (#"token="a", realm="b/c""#, #"token="a", realm="b/c""#),
        ])
    func anyField(value: String, expected: String) {
        let headers: HTTPHeaders = ["X-Any": value]
        #expect(Redaction.standard.headers(headers)["X-Any"] == expected)
        #expect(Redaction.none.value(value, ofHeader: "X-Any") == value)
        let shown = "\(headers)"
        #expect(!shown.contains("abc") && !shown.contains("u:p"))
        #expect(expected != value || shown.contains(value))
    }

    @Test("Without redaction everything stays")
    func none() {
        let text = #"{"password":"abc","url":"https://a.test/?token=x"}"#
        #expect(Redaction.none.bodyText(text, mediaType: .json) == text)
        #expect(Redaction.none.url("https://a.test/?token=x") == "https://a.test/?token=x")
        #expect(Redaction.none.headers([.authorization: "x"])[.authorization] == "x")
    }

    @Test(
        "Bodies are redacted by their type, and forms also when they are called text",
        arguments: [
            ("application/json", #"{"token":"abc","a":1}"#, #"{"token":"REDACTED","a":1}"#),
            ("application/x-www-form-urlencoded", "a=1&password=ab cd&b=2", "a=1&password=REDACTED&b=2"),
            ("text/plain", "access_token=abc&scope=x", "access_token=REDACTED&scope=x"),
            ("text/plain", "the token = abc is hidden", "the token = REDACTED is hidden"),
            ("text/plain", "at https://u:p@a.test/?token=abc\n ok", "at https://a.test/?token=REDACTED\n ok"),
            ("text/html", "<a href=/?token=abc>x</a>", "<…>"),
            ("text/plain", "at <a href=/?token=abc>x</a> it", "at <…> it"),
            ("text/plain", "cut <input name=pin value=1", "cut <…>"),
            ("text/plain", "an Array<Int> of <5", "an Array<Int> of <5"),
            ("application/json", #"{"a":"<pin>1</pin>"}"#, #"{"a":"<…>"}"#),
        ])
    func bodies(type: String, text: String, expected: String) {
        #expect(Redaction.standard.bodyText(text, mediaType: MediaType(type)) == expected)
    }

    @Test(
        "A body is shown only if it is text whose secrets can be recognised",
        arguments: [
            ("application/json", "{}", true), ("text/plain", "hello", true), ("text/html", "<p>", false),
            ("application/problem+json", "{}", true), ("application/xml", "<password>x</password>", false),
            ("application/soap+xml", "<a/>", false), ("text/xml", "<a/>", false),
            ("multipart/form-data; boundary=x", "--x", false), ("image/png", "abc", false), (nil, "abc", false),
            (nil, " {\"a\":1}", true), ("text/plain", "a\u{0}b", false), ("text/plain", "a\u{1B}[2Jb", false),
        ] as [(String?, String, Bool)])
    func shown(type: String?, text: String, isShown: Bool) {
        let mediaType = type.flatMap { MediaType($0) }
        let body = Redaction.standard.shownBody(Data(text.utf8), mediaType: mediaType, limit: 100, clips: false)
        #expect(body == (isShown ? text : nil))
    }

    @Test("A body that is not UTF-8 is not shown; one cut inside a character is")
    func cutCharacters() {
        let redaction = Redaction.standard
        #expect(redaction.shownBody(Data([0x68, 0xFF, 0x69]), mediaType: .text, limit: 10, clips: true) == nil)
        let long = Data("aaé€𝄞bcdefghijklm".utf8)
        for limit in 0...long.count {
            #expect(redaction.shownBody(long, mediaType: .text, limit: limit, clips: true) != nil, "cut at \(limit)")
        }
        #expect(redaction.shownBody(long, mediaType: .text, limit: 5, clips: false) == nil)
    }
}
