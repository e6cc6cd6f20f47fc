// SPDX-License-Identifier: MIT

import CurlewHTTP
import CurlewJSON
import CurlewTesting
import Foundation
import TestServers
import Testing

@testable import CurlewCore
@testable import CurlewRecording

@Suite(.timeLimit(.minutes(5)))
struct HTMLReportTests {
    /// Text that would end an element, an attribute or a string, or change the order of other text.
    static let hostile =
        #"</script><script>document.title='owned'</script>"#
        + #"<img src=x onerror="document.title='owned'">'"`${1}\#\u{202E}"#
        + "<!--\u{0}\u{2028}]]>&lt;"

    /// A document in which every text is hostile.
    static var hostileDocument: HARDocument {
        let text = hostile
        let pair = HARDocument.NameValue(name: text, value: text)
        var facts = HARDocument.Facts(call: 1, route: text, attempt: 1, hop: 0, request: 1, start: 0)
        facts.callTime = 12
        facts.outcome = text
        facts.failed = true
        facts.tls = text
        facts.localAddress = text
        facts.decisions = [.init(time: 1, name: text, text: text)]
        facts.interim = [.init(time: 1, status: 103, headers: [pair])]
        facts.trailers = [pair]
        let entry = HARDocument.Entry(
            startedDateTime: Date(timeIntervalSince1970: 1),
            request: .init(
                method: text, url: "https://a.test/" + text, httpVersion: text, headers: [pair],
                postData: .init(mimeType: text, text: text, comment: text)),
            response: .init(
                status: 200, statusText: text, headers: [pair],
                content: .init(size: 3, mimeType: text, text: text, comment: text), error: text),
            timings: .init(send: 0, wait: 5, receive: 3), serverIPAddress: text, connection: text, comment: text,
            facts: facts)
        return HARDocument(
            entries: [entry], creator: .init(name: text, version: text), comment: text)
    }

    @Test("nothing in the data can end its element, and the page has two scripts")
    func structure() throws {
        let page = HTMLReport(Self.hostileDocument, title: Self.hostile).text
        #expect(page.components(separatedBy: "<script").count == 3)
        #expect(page.components(separatedBy: "</script").count == 3)
        #expect(!page.contains("<img") && !page.contains("<!--"))
        #expect(!page.contains("\u{0}"))
        let start = try #require(page.range(of: #"id="data">"#)).upperBound
        let end = try #require(page.range(of: "</script>", range: start..<page.endIndex)).lowerBound
        let data = String(page[start..<end])
        #expect(!data.contains("<"))
        let value = try FastJSONDecoder().decode(JSONValue.self, from: Data(data.utf8))
        #expect(value["texts"].array?.contains(.string(Self.hostile)) == true)
        #expect(page.contains("default-src 'none'"))
        let empty = HTMLReport(HARDocument()).text
        for part in ["http:", "https:", "src=", "href=", " url(", "innerHTML", "eval("] {
            #expect(!empty.contains(part), "\(part)")
        }
    }

    @Test("the page omits old bodies, and then old entries, to keep its limit")
    func limit() throws {
        let document = SampleRecording.document(calls: 400, bodyLength: 2000)
        let whole = HTMLReport(document, limit: 50_000_000).text
        for limit in [100_000, 400_000, 700_000] {
            let page = HTMLReport(document, limit: limit).text
            #expect(page.utf8.count <= limit)
            #expect(page.contains(limit == 100_000 ? "oldest" : "bodies to limit its size"))
        }
        #expect(whole.utf8.count > 800_000 && !whole.contains("to limit its size."))
        #expect(HTMLReport(HARDocument()).text.utf8.count < 60_000)
    }

    @Test("5,000 exchanges have at most 5 MB")
    func size() {
        let document = SampleRecording.document(calls: 4500, bodyLength: 300)
        #expect(document.entries.count >= 5000)
        let page = HTMLReport(document).text
        print("HTML of \(document.entries.count) exchanges: \(page.utf8.count) bytes")
        #expect(page.utf8.count <= 5_000_000 && !page.contains("oldest"))
    }
}

/// Recordings that look like those of an app, for pages and for the tools that read HAR.
enum SampleRecording {
    static func document(calls: Int, bodyLength: Int = 200, seed: UInt64 = 24) -> HARDocument {
        var random = SeededGenerator(seed: seed)
        var entries: [HARDocument.Entry] = []
        var time = 1_795_600_000_000.0
        for call in 1...calls {
            time += Double(Int.random(in: 5...90, using: &random))
            entries += sample(UInt64(call), at: time, bodyLength, &random)
        }
        return HARDocument(entries: entries)
    }

    private static let routes = ["GetUser", "ListOrders", "CreateOrder", "SearchProducts", "UploadAvatar", "Health"]
    private static let paths = [
        "/v1/users/%", "/v1/orders?page=%&limit=50", "/v1/orders", "/v1/search?q=shoes&offset=%", "/v1/avatar",
        "/health",
    ]

    private static func sample(
        _ call: UInt64, at start: Double, _ bodyLength: Int, _ random: inout SeededGenerator
    ) -> [HARDocument.Entry] {
        let kind = Int.random(in: 0..<6, using: &random)
        let story = Int.random(in: 0..<20, using: &random)
        let statuses =
            story == 0 ? [503, 503, 200] : story == 1 ? [302, 200] : story == 2 ? [0] : story == 3 ? [404] : [200]
        let url = "https://api.example.com" + paths[kind].replacingOccurrences(of: "%", with: "\(random.next() % 9000)")
        var offset = 0.2
        var entries: [HARDocument.Entry] = []
        for (index, status) in statuses.enumerated() {
            let isNew = Int.random(in: 0..<6, using: &random) == 0
            func ms(_ range: ClosedRange<Int>) -> Double { Double(Int.random(in: range, using: &random)) / 1000 }
            let timings = HARDocument.Timings(
                blocked: Int.random(in: 0..<5, using: &random) == 0 ? ms(100...9000) : nil,
                dns: isNew ? ms(500...8000) : nil, connect: isNew ? ms(9000...60_000) : nil, send: 0,
                wait: status == 0 ? -1 : ms(8000...180_000), receive: status == 0 ? -1 : ms(100...40_000),
                ssl: isNew ? ms(5000...8000) : nil)
            var facts = HARDocument.Facts(
                call: call, route: routes[kind], attempt: story == 0 ? index + 1 : 1, hop: story == 1 ? index : 0,
                request: index + 1, start: offset)
            facts.reused = !isNew
            facts.total = status == 0 ? 3000 : timings.total
            facts.tls = "TLS 1.3 with TLS_AES_128_GCM_SHA256"
            facts.failed = status == 0 || status == 404
            facts.outcome = status == 0 ? "timedOut connect: No connection after 3 s." : "\(statuses.last ?? 0)"
            let wait = facts.total ?? 0
            if story == 0 {
                facts.decisions = [
                    .init(
                        time: offset + wait, name: "attempt",
                        text: index < 2
                            ? "attempt \(index + 1): status 503 after 34 ms; retried in 120 ms, because the failure may be "
                                + "temporary" : "attempt 3: status 200 after 20 ms")
                ]
            } else if story == 1, index == 0 {
                facts.decisions = [
                    .init(
                        time: offset + wait, name: "redirect.followed",
                        text: "302 from \(url) to https://api.example.com/")
                ]
            }
            let body =
                #"{"id":\#(call),"name":"Ann <b>","items":[1,2,3],"note":""#
                + String(repeating: "x", count: max(0, bodyLength - 60)) + #""}"#
            entries.append(
                HARDocument.Entry(
                    startedDateTime: Date(timeIntervalSince1970: (start + offset).rounded() / 1000),
                    request: .init(
                        method: kind == 2 ? "POST" : kind == 4 ? "PUT" : "GET", url: url, httpVersion: "HTTP/2",
                        headers: [
                            .init(name: "Accept", value: "application/json"),
                            .init(name: "User-Agent", value: "Curlew/0.1"),
                            .init(name: "Authorization", value: "REDACTED"),
                            .init(name: "X-Request-ID", value: "\(random.next())-\(random.next() % 10_000)"),
                        ],
                        postData: kind == 2
                            ? .init(mimeType: "application/json", text: #"{"items":[{"id":7,"count":2}]}"#) : nil,
                        bodySize: kind == 2 ? 30 : 0),
                    response: status == 0
                        ? .init(status: 0, httpVersion: "", content: .init(size: 0), error: facts.outcome)
                        : .init(
                            status: status, httpVersion: "HTTP/2",
                            headers: [
                                .init(name: "content-type", value: "application/json"),
                                .init(name: "date", value: "Sun, 22 Nov 2026 10:\(call / 60 % 60):\(call % 60) GMT"),
                                .init(name: "server", value: "nginx"), .init(name: "cache-control", value: "no-store"),
                                .init(name: "etag", value: "\"\(random.next())\""),
                                .init(name: "x-trace", value: "\(random.next())"),
                            ],
                            content: .init(
                                size: Int64(body.utf8.count), mimeType: "application/json",
                                text: bodyLength > 0 ? body : nil),
                            bodySize: Int64(body.utf8.count), transferSize: Int64(body.utf8.count) + 180),
                    timings: timings, serverIPAddress: "192.0.2.1", connection: "\(random.next() % 6)", facts: facts))
            offset += wait + (story == 0 ? 120 : 0.4)
        }
        for index in entries.indices { entries[index].facts?.callTime = offset }
        return entries
    }
}
