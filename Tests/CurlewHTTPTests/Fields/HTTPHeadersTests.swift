// SPDX-License-Identifier: MIT

import Testing

@Suite(.timeLimit(.minutes(1)))
struct HTTPHeadersTests {
    @Test("Fields keep their order and are found in any spelling")
    func orderAndLookup() {
        let headers: HTTPHeaders = ["Accept": "a", "Via": "one", "ACCEPT": "b", "via": "two"]
        #expect(headers.map(\.value) == ["a", "one", "b", "two"])
        #expect(headers["accept"] == "a, b")
        #expect(headers[values: "Via"] == ["one", "two"])
        #expect(headers[.host] == nil)
        #expect(headers[values: .host] == [])
        #expect(headers.count == 4)
        #expect(headers[2] == HTTPField(name: .accept, value: "b"))
    }

    @Test("Set-Cookie is never joined")
    func setCookie() {
        let headers: HTTPHeaders = [.setCookie: "a=1; Expires=Wed, 09 Jun 2021 10:18:14 GMT", "set-cookie": "b=2"]
        #expect(headers[.setCookie] == "a=1; Expires=Wed, 09 Jun 2021 10:18:14 GMT")
        #expect(headers[values: .setCookie].count == 2)
    }

    @Test("Cookie fields are joined with a semicolon (RFC 9113 §8.2.3)")
    func cookie() {
        let headers: HTTPHeaders = [.cookie: "a=1", "cookie": "b=2", "COOKIE": "c=3"]
        #expect(headers[.cookie] == "a=1; b=2; c=3")
    }

    @Test("Setting replaces the first field in place and removes the others")
    func setting() {
        var headers: HTTPHeaders = [.accept: "1", .host: "h", "accept": "2", "Via": "v", "ACCEPT": "3"]
        headers["aCCept"] = "new"
        #expect(headers.map(\.description) == ["aCCept: new", "Host: h", "Via: v"])
        headers[.date] = "d"
        #expect(headers.last == HTTPField(name: .date, value: "d"))
        headers[.host] = nil
        headers[.age] = nil
        #expect(headers.map(\.name) == [.accept, "Via", .date])
    }

    @Test("Appending adds, removing removes all, contains sees any spelling")
    func appending() {
        var headers = HTTPHeaders()
        #expect(headers.isEmpty)
        headers.append(.link, "</a>")
        headers.append("LINK", "</b>")
        headers.append(contentsOf: [HTTPField(name: .link, value: "</c>")])
        headers.append(contentsOf: [.vary: "Accept"] as HTTPHeaders)
        #expect(headers[.link] == "</a>, </b>, </c>")
        #expect(headers.contains("vary"))
        headers.remove("link")
        #expect(!headers.contains(.link))
        #expect(headers.count == 1)
    }

    @Test("Merging keeps one side's fields for a name that both have")
    func merging() {
        let mine: HTTPHeaders = [.accept: "mine", "Via": "1", "via": "2"]
        let other: HTTPHeaders = [.accept: "other", "accept": "too", .host: "h"]
        let replaced = mine.merging(other, replacing: true)
        #expect(replaced.map(\.description) == ["Via: 1", "via: 2", "Accept: other", "accept: too", "Host: h"])
        let kept = mine.merging(other, replacing: false)
        #expect(kept.map(\.description) == ["Accept: mine", "Via: 1", "via: 2", "Host: h"])
    }

    @Test("Equality ignores how names interleave, but not the order within a name")
    func equality() {
        let headers: HTTPHeaders = [.accept: "a", "Via": "1", .accept: "b"]
        #expect(headers == ["VIA": "1", "accept": "a", "Accept": "b"])
        #expect(headers != [.accept: "b", "Via": "1", .accept: "a"])
        #expect(headers != [.accept: "a", "Via": "1"])
        #expect(headers != [.accept: "a", "Via": "1", .age: "b"])
        #expect(headers != [.accept: "a", "Via": "1", "Via": "1"])
    }

    @Test("A description hides secrets")
    func description() {
        let headers: HTTPHeaders = [.accept: "*/*", .authorization: "Bearer s3cret", "COOKIE": "sid=s3cret"]
        #expect(headers.description == "Accept: */*\nAuthorization: <redacted>\nCOOKIE: <redacted>")
        #expect(!String(reflecting: headers).contains("s3cret"))
    }

    @Test("A copy does not change with its original")
    func valueSemantics() {
        var headers: HTTPHeaders = [.accept: "a"]
        let copy = headers
        headers[.accept] = "b"
        headers[.host] = "x\r\n"
        #expect(copy == [.accept: "a"])
        #expect(copy.problem == nil)
    }
}
