// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore
@testable import CurlewRecording

@Suite(.timeLimit(.minutes(2)))
struct HARDocumentTests {
    private func read(_ text: String) throws(NetworkError) -> HARDocument { try HARDocument(Data(text.utf8)) }

    @Test("A document of random entries is equal after it was written and read", arguments: 0..<20)
    func roundTrip(round: Int) throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        let document = HARDocument(
            entries: (0..<20).map { _ in RandomHAR.entry(&random) }, comment: random.text(upTo: 20))
        for pretty in [false, true] {
            let data = try document.data(pretty: pretty)
            #expect(try HARDocument(data) == document, "seed \(seed)")
            #expect(try HARDocument(data).data(pretty: pretty) == data, "seed \(seed)")
        }
    }

    @Test("A request is equal after it was written as HAR and read, with every body", arguments: 0..<50)
    func requests(round: Int) throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        var headers = HTTPHeaders()
        for index in 0..<Int.random(in: 0...6, using: &random) {
            headers.append(HTTPField.Name("X-Field-\(index % 4)"), "value \(random.next())")
        }
        let body: Data? = Bool.random(using: &random) ? nil : Data(random.bytes(upTo: 40))
        if body != nil { headers[.contentType] = "application/octet-stream" }
        var request = try HTTPRequest(
            .post, url: "https://a.test/p%20q?a=\(random.next())&b=%F0%9F%90%A6", headers: headers)
        if let body { request.body = .bytes(body) }
        let har = HARDocument.Request(request, body: body, redaction: .none)
        let document = HARDocument(entries: [.init(startedDateTime: Date(), request: har, response: .init(status: 204))]
        )
        let restored = try HARDocument(document.data()).entries[0].request.httpRequest()
        #expect(restored.method == request.method && restored.urlString == request.urlString, "seed \(seed)")
        #expect(restored.headers == request.headers, "seed \(seed)")
        #expect(restored.body.data == request.body.data, "seed \(seed)")
    }

    @Test("A response is equal after it was written as HAR and read", arguments: 0..<50)
    func responses(round: Int) throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        let body = Data(random.bytes(upTo: 60))
        let response = HTTPResponse(
            status: HTTPStatus(Int.random(in: 100...599, using: &random)),
            headers: [.contentType: "text/plain", "X-Number": "\(random.next())"], body: ResponseBody(body),
            version: [.http1_0, .http1_1, .http2, .http3][Int.random(in: 0..<4, using: &random)],
            reasonPhrase: "Reason \(random.next())")
        let entry = HARDocument.Entry(
            startedDateTime: Date(), request: .init(method: "GET", url: "https://a.test/"),
            response: HARDocument.Response(response, body: body, redaction: .none))
        let restored = try HARDocument(HARDocument(entries: [entry]).data()).entries[0].httpResponse()
        #expect(restored.status == response.status && restored.headers == response.headers, "seed \(seed)")
        #expect(restored.body.bufferedData == body && restored.version == response.version, "seed \(seed)")
        #expect(restored.reasonPhrase == response.reasonPhrase && restored.url == "https://a.test/")
    }

    @Test("A document of another program may have unknown fields, and omit required ones")
    func tolerance() throws {
        let document = try read(
            #"""
            \#u{FEFF}{"log":{"version":"1.1","_x":[1],"creator":{"name":"Other","version":"3"},"pages":[1],
            "entries":[{"_initiator":{"a":1},
            "startedDateTime":"2026-01-02T03:04:05.6789+02:00","time":12.5,"connection":443,"cache":null,
            "request":{"method":"GET","url":"https://a.test/","headers":[{"name":":authority","value":"a.test"}]},
            "response":{"status":200,"content":{"text":"hi"},"headersSize":12.0}}]}}
            """#)
        let entry = try #require(document.entries.first)
        #expect(HARTimestamp.text(entry.startedDateTime) == "2026-01-02T01:04:05.679Z")
        #expect(entry.time == 12.5 && entry.connection == "443" && entry.timings.wait == -1)
        #expect(entry.request.bodySize == -1 && entry.response.headersSize == 12 && entry.facts == nil)
        #expect(try entry.request.httpRequest().headers.isEmpty)
        #expect(try entry.httpResponse().body.bufferedData == Data("hi".utf8))
        #expect(document.log.creator.name == "Other")
    }

    @Test(
        "An error names the place in the document",
        arguments: [
            ("{}", "\"log\""), (#"{"log":{}}"#, "\"entries\""), ("[", "not a HAR document"),
            (#"{"log":{"entries":[{"startedDateTime":"2026-01-02T03:04:05Z"}]}}"#, "$.log.entries[0]"),
            (#"{"log":{"entries":[{"startedDateTime":"yesterday"}]}}"#, "$.log.entries[0].startedDateTime"),
            (
                #"{"log":{"entries":[{"startedDateTime":"2026-01-02T03:04:05Z","request":{"method":1,"url":""}}]}}"#,
                "$.log.entries[0].request.method"
            ),
        ])
    func errors(text: String, part: String) throws {
        let error = try #require(throws: NetworkError.self) { try read(text) }
        #expect(error.reason == .decoding)
        #expect(error.detail.contains(part), "\(error.detail)")
    }

    @Test(
        "Dates with fractions and time zones are read",
        arguments: [
            ("1970-01-01T00:00:00.000Z", 0.0), ("1970-01-01T00:00:00Z", 0), ("1970-01-01T01:00:00+01:00", 0),
            ("1969-12-31T19:00:00.000-0500", 0), ("2024-02-29T12:00:00.25Z", 1_709_208_000.25),
            ("1969-12-31T23:59:59.999Z", -0.001), ("2026-01-01T00:00", 1_767_225_600),
        ])
    func dates(text: String, seconds: Double) throws {
        let date = try #require(HARTimestamp.date(text))
        #expect(abs(date.timeIntervalSince1970 - seconds) < 0.000_01)
        #expect(HARTimestamp.date(HARTimestamp.text(date)) == date)
    }

    @Test(
        "Text that is no date is refused",
        arguments: [
            "", "2026", "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z", "2026-01-01T00:00:00Zx", "20260101T00Z",
        ])
    func noDates(text: String) {
        #expect(HARTimestamp.date(text) == nil)
    }

    @Test("Dates outside of the calendar of four digits are clamped")
    func extremes() {
        for date in [
            Date.distantPast, .distantFuture, Date(timeIntervalSince1970: 1e300), Date(timeIntervalSince1970: .nan),
        ] {
            #expect(HARTimestamp.text(date).utf8.count == 24)
        }
    }

    @Test("Secrets are hidden in every part of a message, and other bodies are omitted")
    func redaction() throws {
        var request = try HTTPRequest(
            .post, url: "https://a.test/x?token=hunter2&page=1",
            headers: [.authorization: "Bearer hunter2", .cookie: "sid=hunter2", .contentType: "application/json"])
        let body = Data(#"{"password":"hunter2","name":"Ann"}"#.utf8)
        request.body = .bytes(body)
        let har = HARDocument.Request(request, body: body)
        #expect(har.queryString.map(\.value) == ["REDACTED", "1"])
        #expect(har.cookies.isEmpty && har.postData?.text == #"{"password":"REDACTED","name":"Ann"}"#)
        let image = HARDocument.Response(
            HTTPResponse(headers: [.contentType: "image/png", .setCookie: "sid=hunter2"]), body: Data([0xFF, 0xD8]))
        #expect(image.content.text == nil && image.content.comment?.contains("image/png") == true)
        #expect(image.headers.last?.value == "sid=REDACTED")
        let kept = HARDocument.Response(
            HTTPResponse(headers: [.contentType: "image/png"]), body: Data([0xFF, 0xD8]), opaqueBodies: .kept)
        #expect(kept.content.encoding == "base64" && kept.content.text == "/9g=")
        #expect(!"\(har)\(image)".contains("hunter2"))
    }

    @Test("A document of another program is redacted as a whole")
    func redactedDocument() throws {
        let document = try read(
            #"""
            {"log":{"comment":"token: hunter2","pages":[{"title":"hunter2"}],"entries":[{"startedDateTime":"2026-01-02T03:04:05Z",
            "pageref":"hunter2","cache":{"beforeRequest":{"eTag":"hunter2"},"comment":"hunter2"},
            "comment":"Bearer hunter2","request":{"method":"POST","url":"https://u:hunter2@a.test/?key=hunter2",
            "cookies":[{"name":"a","value":"hunter2"}],"queryString":[{"name":"key","value":"hunter2"}],
            "headers":[{"name":"X-Api-Key","value":"hunter2"},{"name":":path","value":"/?key=hunter2"}],
            "postData":{"mimeType":"application/x-www-form-urlencoded","text":"pin=hunter2",
            "params":[{"name":"pin","value":"hunter2"}]}},
            "response":{"status":302,"redirectURL":"https://a.test/?code=hunter2",
            "headers":[{"name":"Location","value":"https://a.test/?code=hunter2"}],
            "cookies":[{"name":"a","value":"hunter2"}],
            "content":{"mimeType":"text/xml","text":"<password>hunter2</password>"}}}]}}
            """#)
        let redacted = document.redacted()
        #expect(!String(decoding: try redacted.data(), as: UTF8.self).contains("hunter2"))
        #expect(redacted.entries[0].request.postData?.text == "pin=REDACTED")
        #expect(document.redacted(.none) == document)
    }

    @Test("An entry without a response throws its reason; a form's body is made of its fields")
    func reading() throws {
        let entry = HARDocument.Entry(
            startedDateTime: Date(),
            request: .init(
                method: "POST", url: "https://a.test/#part",
                postData: .init(
                    mimeType: "application/x-www-form-urlencoded", params: [.init(name: "a b", value: "c&d")])),
            response: .init(status: 0, error: "unreachable"))
        let error = #expect(throws: NetworkError.self) { try entry.httpResponse() }
        #expect(error?.detail.contains("unreachable") == true)
        #expect(try entry.request.httpRequest().body.data == Data("a+b=c%26d".utf8))
        #expect(entry.curlCommand().contains("--data-raw 'a+b=c%26d'"))
        var broken = entry
        broken.request.url = "not a URL"
        #expect(broken.curlCommand().hasPrefix("# No command: "))
        broken.request = .init(method: "PUT", url: "https://a.test/", bodySize: 12)
        #expect(broken.curlCommand().hasPrefix("# The body is omitted (12 bytes).\ncurl "))
        broken.request.postData = .init(mimeType: "multipart/form-data", params: [.init(name: "a", value: "")])
        #expect(throws: NetworkError.self) { try broken.request.httpRequest() }
    }
}

/// Random entries, every field of which may be absent.
enum RandomHAR {
    static func entry(_ random: inout SeededGenerator) -> HARDocument.Entry {
        func maybe<Value>(_ value: @autoclosure () -> Value) -> Value? { Bool.random(using: &random) ? value() : nil }
        func text() -> String { random.text(upTo: 12) }
        func number() -> Double { Double(Int64.random(in: -1...9_000_000, using: &random)) / 1000 }
        func pairs() -> [HARDocument.NameValue] {
            (0..<Int.random(in: 0...4, using: &random)).map { _ in
                .init(name: text(), value: text())
            }
        }
        func cookies() -> [HARDocument.Cookie] {
            (0..<Int.random(in: 0...2, using: &random)).map { _ in
                var cookie = HARDocument.Cookie(name: text(), value: text())
                cookie.path = maybe(text())
                cookie.expires = maybe(text())
                cookie.secure = maybe(false)
                return cookie
            }
        }
        var request = HARDocument.Request(
            method: text(), url: text(), httpVersion: text(), headers: pairs(), queryString: pairs(),
            postData: maybe(
                .init(
                    mimeType: text(),
                    params: maybe(pairs()), text: maybe(text()),
                    comment: maybe(text()), encoding: maybe("base64"))),
            bodySize: Int64.random(in: -1...9999, using: &random))
        request.cookies = cookies()
        request.headersSize = Int64.random(in: -1...9999, using: &random)
        var response = HARDocument.Response(
            status: Int.random(in: 0...599, using: &random), statusText: text(), httpVersion: text(), headers: pairs(),
            content: .init(
                size: Int64.random(in: -1...9999, using: &random), mimeType: text(), text: maybe(text()),
                encoding: maybe("base64"), comment: maybe(text())),
            redirectURL: text(), transferSize: maybe(12), error: maybe(text()))
        response.cookies = cookies()
        var facts = HARDocument.Facts(
            call: random.next(), route: maybe(text()), attempt: 2, hop: 1, request: 3, start: 1)
        facts.decisions = maybe([.init(time: number(), name: text(), text: text())])
        facts.interim = maybe([.init(time: number(), status: 103, headers: pairs())])
        facts.failed = maybe(true)
        facts.trailers = maybe(pairs())
        return HARDocument.Entry(
            startedDateTime: Date(
                timeIntervalSince1970: Double(Int64.random(in: 0...4_000_000_000_000, using: &random)) / 1000),
            time: number(), request: request, response: response,
            timings: .init(
                blocked: maybe(number()), dns: maybe(number()), connect: maybe(-1), send: number(), wait: number(),
                receive: number(), ssl: maybe(number())),
            serverIPAddress: maybe(text()), connection: maybe(text()), comment: maybe(text()),
            facts: maybe(facts))
    }
}
