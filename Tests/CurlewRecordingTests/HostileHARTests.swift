// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore
@testable import CurlewRecording

/// Documents that another program made, by mistake or on purpose.
/// The suite is serialized and yields, because its loops would keep the other tests from their threads.
@Suite(.serialized, .timeLimit(.minutes(2)))
struct HostileHARTests {
    /// A document in which every field of the format occurs.
    private static func complete(_ random: inout SeededGenerator) -> HARDocument {
        var entry = RandomHAR.entry(&random)
        entry.request = .init(
            method: "POST", url: "https://a.test/x", headers: [.init(name: "Accept", value: "text/plain")],
            queryString: [.init(name: "a", value: "b")],
            postData: .init(mimeType: "text/plain", text: "t", comment: "c"))
        entry.request.cookies = [.init(name: "c", value: "v")]
        entry.response = .init(
            status: 200, statusText: "OK", headers: [.init(name: "Server", value: "s")],
            content: .init(size: 1, mimeType: "text/plain", text: "t", comment: "c"), redirectURL: "/x",
            error: "e")
        entry.response.cookies = [.init(name: "c", value: "v")]
        entry.comment = "c"
        var facts = HARDocument.Facts(call: 1, route: "r")
        facts.outcome = "o"
        facts.decisions = [.init(time: 1, name: "n", text: "t")]
        facts.interim = [.init(time: 1, status: 103, headers: [.init(name: "Link", value: "l")])]
        facts.trailers = [.init(name: "Digest", value: "d")]
        entry.facts = facts
        return HARDocument(entries: [entry], creator: .init(name: "n", version: "v"), comment: "c")
    }

    /// Calls `change` for each string of a JSON value, with its path.
    private static func strings(_ value: Any, _ path: [String] = [], _ body: ([String]) -> Void) {
        switch value {
        case let object as [String: Any]:
            for (name, member) in object.sorted(by: { $0.key < $1.key }) { strings(member, path + [name], body) }
        case let list as [Any]:
            for (index, element) in list.enumerated() { strings(element, path + ["\(index)"], body) }
        case is String: body(path)
        default: break
        }
    }

    private static func replacing(_ value: Any, at path: ArraySlice<String>, by new: Any) -> Any {
        guard let step = path.first else { return new }
        if var object = value as? [String: Any] {
            object[step] = object[step].map { replacing($0, at: path.dropFirst(), by: new) }
            return object
        }
        guard var list = value as? [Any], let index = Int(step), list.indices.contains(index) else { return value }
        list[index] = replacing(list[index], at: path.dropFirst(), by: new)
        return list
    }

    /// The members that cannot hold a secret by their nature, or whose values are names.
    private static let harmless: Set<String> = [
        "startedDateTime", "name", "version", "method", "httpVersion", "mimeType", "serverIPAddress", "connection",
        "expires", "path", "domain", "route", "tls", "localAddress", "encoding", "_encoding",
    ]

    @Test("A secret in any text of a document is redacted", arguments: 0..<2)
    func everyText(round: Int) async throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        let json = try JSONSerialization.jsonObject(with: Self.complete(&random).data())
        var paths: [[String]] = []
        Self.strings(json) { path in if !Self.harmless.contains(path.last ?? "") { paths.append(path) } }
        #expect(paths.count > 18, "\(paths.count)")
        for (index, path) in paths.enumerated() {
            let secret =
                path.last == "url" || path.last == "redirectURL" || path.suffix(2).first == "Location"
                ? "https://u:hunter2@a.test/?token=hunter2#access_token=hunter2"
                : path.contains("headers") && path.last == "value" || path.contains("trailers") && path.last == "value"
                    || path.contains("queryString") && path.last == "value"
                    ? nil : "see https://u:hunter2@a.test/?token=hunter2 and password: hunter2"
            guard let secret else { continue }
            await Task.yield()
            let changed = Self.replacing(json, at: path[...], by: secret)
            let document = try HARDocument(JSONSerialization.data(withJSONObject: changed))
            let text = String(decoding: try document.redacted().data(), as: UTF8.self)
            #expect(!text.contains("hunter2"), "seed \(seed): \(path.joined(separator: "."))")
            // A page is slow to make, and shows what the document contains.
            guard index % 8 == round else { continue }
            let page = HTMLReport(document.redacted()).text
            #expect(!page.contains("hunter2"), "seed \(seed): \(path.joined(separator: "."))")
        }
    }

    @Test("Redaction keeps URLs without a secret, with @ in the path, query or fragment")
    func harmlessURLs() {
        for url in [
            "https://a.test/@ann/photos?page=1", "https://a.test/users?mail=ann@b.test", "https://a.test:8443/x@y/z",
            "https://[::1]/a@b", "http://a.test/?q=http://b.test/@c",
        ] {
            let entry = HARDocument.Entry(
                startedDateTime: Date(), request: .init(method: "GET", url: url), response: .init(status: 204))
            #expect(HARDocument(entries: [entry]).redacted().entries[0].request.url == url)
        }
    }

    @Test("Redaction hides the name and password of any URL")
    func userInfo() {
        for url in [
            "https://ann:hunter2@a.test/", "https://hunter2@a.test", "https://ann:hunter2/x@a.test/",
            "https://a@b:hunter2@c",
            "https://ann:hunter2#@a.test/", "https://ann:hunter2?@a.test/", "HTTPS://hunter2@A.test",
            "//u:hunter2@a.test/",
            "https:/u:hunter2@a.test/", "https:\\\\u:hunter2@a.test/", " https://u:hunter2@a.test/",
            "https://u:hunter2@/", "u:hunter2@a.test",
        ] {
            let entry = HARDocument.Entry(
                startedDateTime: Date(), request: .init(method: "GET", url: url), response: .init(status: 204))
            let shown = HARDocument(entries: [entry]).redacted().entries[0]
            #expect(!"\(shown)".contains("hunter2"), "\(url): \(shown.request.url)")
            #expect(!entry.curlCommand().contains("hunter2"), "\(entry.curlCommand())")
        }
    }

    @Test("Missing members have neutral values, where there are any")
    func missingMembers() throws {
        let text = #"""
            {"log":{"entries":[{"startedDateTime":"2026-01-02T03:04:05Z",
            "request":{"method":"GET","url":"https://a.test/","cookies":[{"name":"c"}],
            "postData":{"params":[{"name":"a"},{"value":"b"}]},"headers":[{"value":"x"}]},
            "response":{"status":200,"cookies":[{"name":"d"},{"value":"e"}]}}]}}
            """#
        let document = try HARDocument(Data(text.utf8))
        let entry = try #require(document.entries.first)
        #expect(entry.request.cookies == [.init(name: "c", value: "")] && entry.response.cookies.count == 2)
        #expect(entry.request.postData?.params?.count == 2)
        #expect(throws: NetworkError.self) { try entry.request.httpRequest() }
    }

    /// Values that a program might write instead of the right ones.
    private static var odd: [Any] {
        [
            NSNull(), -1, 0, 1e308, -1e308, 9.007199254740993e15, Int64.max, Int64.min, UInt64.max, 0.5, "", "x", "-1",
            true,
            [Any](), [String: Any](), [[[[[Any]()]]]], "\u{0}\u{2028}\u{202E}</script>",
            String(repeating: "A", count: 10_000),
            ["name": "Set-Cookie", "value": "a"], "%", "data:,", "https://", "2026-01-02T03:04:05Z", "==", "base64",
        ]
    }

    @Test("A document with odd values is refused with a NetworkError, or works everywhere", arguments: 0..<4)
    func odd(round: Int) async throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        var paths: [[String]] = []
        let json = try JSONSerialization.jsonObject(with: Self.complete(&random).data())
        func collect(_ value: Any, _ path: [String]) {
            if !path.isEmpty { paths.append(path) }
            if let object = value as? [String: Any] { for (name, member) in object { collect(member, path + [name]) } }
            if let list = value as? [Any] {
                for (index, item) in list.enumerated() { collect(item, path + ["\(index)"]) }
            }
        }
        collect(json, [])
        paths.sort { $0.joined() < $1.joined() }
        var read = 0
        for _ in 0..<50 {
            await Task.yield()
            var changed = json
            for _ in 0..<Int.random(in: 1...2, using: &random) {
                guard let path = paths.randomElement(using: &random),
                    let value = Self.odd.randomElement(using: &random)
                else { continue }
                changed = Self.replacing(changed, at: path[...], by: value)
            }
            let data = try JSONSerialization.data(withJSONObject: changed)
            let document: HARDocument
            do throws(NetworkError) {
                document = try HARDocument(data)
            } catch {
                #expect(error.reason == .decoding, "seed \(seed)")
                continue
            }
            read += 1
            for document in [document, document.redacted(), document.redacted(opaqueBodies: .kept)] {
                #expect(throws: Never.self, "seed \(seed)") { try document.data() }
                #expect(HTMLReport(document, limit: 200_000).text.utf8.count <= 200_000, "seed \(seed)")
                for entry in document.entries {
                    #expect(!entry.curlCommand().isEmpty)
                    _ = try? entry.request.httpRequest()
                    _ = try? entry.httpResponse()
                }
            }
        }
        print("Documents with odd values that could be read: \(read) of 50, seed \(seed)")
    }

    @Test("Changed bytes are refused with a NetworkError, or make another document", arguments: 0..<2)
    func bytes(round: Int) async throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        let data = try Self.complete(&random).data()
        for _ in 0..<100 {
            await Task.yield()
            var changed = data
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let index = Int.random(in: 0..<changed.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: changed[index] = UInt8.random(in: 0...255, using: &random)
                case 1: changed.remove(at: index)
                default: changed = Data(changed.prefix(max(8, index)))
                }
            }
            guard let document = try? HARDocument(changed) else { continue }
            #expect(throws: Never.self, "seed \(seed)") { try document.redacted().data() }
            _ = HTMLReport(document, limit: 100_000)
        }
    }

    @Test("A page of random text keeps any limit", arguments: 0..<4)
    func pages(round: Int) throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        let document = HARDocument(entries: (0..<100).map { _ in RandomHAR.entry(&random) })
        let limit = Int.random(in: 60_000...150_000, using: &random)
        #expect(HTMLReport(document, limit: limit).text.utf8.count <= limit, "seed \(seed)")
    }

    @Test("Deep nesting and large numbers are refused without a crash")
    func depth() {
        let deep = String(repeating: "[", count: 200_000)
        for text in [
            #"{"log":{"_x":\#(deep)"#, #"{"log":{"entries":\#(deep)"#, deep,
            #"{"log":{"entries":[{"startedDateTime":"2026-01-02T03:04:05Z","time":1e999}]}}"#,
            #"{"log":{"entries":[{"startedDateTime":"999999999-01-02T03:04:05Z"}]}}"#,
        ] {
            #expect(throws: NetworkError.self) { try HARDocument(Data(text.utf8)) }
        }
    }

    @Test("The reason phrase of a response is redacted")
    func reasonPhrase() {
        let response = HTTPResponse(status: 401, reasonPhrase: "token=hunter2 is invalid")
        #expect(HARDocument.Response(response).statusText == "token=REDACTED is invalid")
        #expect(HARDocument.Response(response, redaction: .none).statusText == "token=hunter2 is invalid")
    }

    @Test("The text of a failure is redacted by the given list, too")
    func failure() {
        let error = NetworkError(.badResponse, detail: "patient=hunter2 token=hunter2")
        let rules = Redaction.Rules(secretMembers: ["patient"])
        let text = HARDocument.Response(error, redaction: .standard.adding(rules)).error
        #expect(text == "badResponse: patient=REDACTED token=REDACTED")
        #expect(HARDocument.Response(error).error == "badResponse: patient=hunter2 token=REDACTED")
    }

    @Test("A remark, a title or a creator of any length does not exceed the limit of a page")
    func pageLimit() {
        let long = String(repeating: "<remark>", count: 100_000)
        let document = HARDocument(entries: [], creator: .init(name: long, version: long), comment: long)
        #expect(HTMLReport(document, limit: 200_000).text.utf8.count <= 200_000)
    }
}
