// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import CurlewTesting
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// URI templates as the path, the query and the URL of a request.
@Suite(.timeLimit(.minutes(1)))
struct URITemplateRequestTests {
    private let client = APIClient.testing(RecordingTransport())

    /// What is requested below `https://api.example/v1`, or why nothing is.
    private func target(_ template: URITemplate, _ variables: URITemplate.Variables) -> String {
        do throws(NetworkError) {
            return try client.request(for: Request<Data>.get(RequestPath(expanding: template, variables))).urlString
        } catch {
            return "refused: \(error.reason == .invalidRequest ? error.detail : "\(error)")"
        }
    }

    private static let variables: URITemplate.Variables = [
        "id": 7, "name": "a/b c", "none": nil as Int?, "list": ["x", "y z"], "nobody": [String](), "flag": true,
        "deep": "a/b%2Fc", "query": "a&b=c", "map": URITemplate.Value.pairs([.init("k", "v"), .init("q", "?")]),
        "dots": "..", "hidden": "%2e%2E", "later": "x/../y", "back": "..\\y", "cut": "..;x", "empty": "",
        "mark": "a?b", "hash": "a#b", "host": "//evil.example", "url": "http://evil.example/", "dot": ".",
    ]

    @Test(
        "paths and queries",
        arguments: [
            ("/films/{id}", "/v1/films/7"), ("films/{id}", "/v1/films/7"), ("{/list*}", "/v1/x/y%20z"),
            ("/films/{name}", "/v1/films/a%2Fb%20c"), ("/films{/none}", "/v1/films"), ("/films{/nobody*}", "/v1/films"),
            ("/films{.flag}", "/v1/films.true"), ("/films{;id,empty}", "/v1/films;id=7;empty"),
            ("/films{?id,none,list*}", "/v1/films?id=7&list=x&list=y%20z"), ("{?id}", "/v1?id=7"), ("", "/v1"),
            ("/files/{+deep}", "/v1/files/a/b%2Fc"), ("/f{?query}", "/v1/f?query=a%26b%3Dc"),
            ("/f?x={+query}", "/v1/f?x=a&b=c"), ("/f{?map*}", "/v1/f?k=v&q=%3F"), ("/f?a=1{&id}", "/v1/f?a=1&id=7"),
            ("/f{#name}", "/v1/f"), ("/f?a=1#x{name}", "/v1/f?a=1"), ("/f{?empty}", "/v1/f?empty="),
            ("/f?x={dots}", "/v1/f?x=.."), ("/f{?dots,mark,hash}", "/v1/f?dots=..&mark=a%3Fb&hash=a%23b"),
            ("/f{#dots,hash}", "/v1/f"), ("/{mark}", "/v1/a%3Fb"), ("/{host}", "/v1/%2F%2Fevil.example"),
            ("/f?{none}", "/v1/f?"), ("/f?x={+mark}", "/v1/f?x=a?b"),
        ] as [(URITemplate, String)])
    func targets(template: URITemplate, expected: String) {
        #expect(target(template, Self.variables) == "https://api.example" + expected)
    }

    @Test(
        "values that would leave their place are refused",
        arguments: [
            "/f{.dot}x", "/f/{dots}", "/f/{hidden}", "/f/{later}", "/f/{back}", "/f/{cut}", "/f{/dots}", "/f{;dots}",
            "/f/{+later}",
            "/f/{+hidden}", "/f/{+back}", "/f{/list,dots}", "/{dot}{dot}/x", "/f/{dot}", "/f{/dot}", "/.{dot}",
            "/{dots:1}",
            "/f/{empty}", "/f{/empty}", "/f/{+empty}", "/f/{none}", "/f/{+none}", "/f/{nobody*}", "/f/{absent}",
            "/f/{+mark}", "/f/{+hash}", "/f?x={+hash}", "{+host}/x", "/{+host}", "{+url}", "/f{&id}",
            "/f{?none}{&id}", "https://api.example/{id}", "/f/../{id}", "/f/%2e%2e/{id}", "/f/{id", "/f/{list:2}",
        ] as [URITemplate])
    func refused(template: URITemplate) {
        #expect(target(template, Self.variables).utf8.starts(with: "refused: ".utf8), "\(template)")
    }

    @Test("a refusal of a required value names the variable")
    func names() {
        let path = RequestPath(expanding: "/f/{owner,repo}", [:])
        #expect(path.problem?.detail == "The path of the URI template has no value for owner, repo.")
        #expect(RequestPath(expanding: "/f/{", [:]).problem?.detail.utf8.firstRange(of: "byte 3".utf8) != nil)
    }

    @Test("items of the client, the template and the call are sent in this order")
    func order() throws {
        let client = client.with(query: ["key": "k"])
        func url(_ template: URITemplate) throws -> String {
            let path = RequestPath(expanding: template, ["a": 1])
            return try client.request(for: Request<Data>.get(path, query: ["z": 9])).urlString
        }
        #expect(try url("/f{?a}") == "https://api.example/v1/f?key=k&a=1&z=9")
        #expect(try url("/f{?b}") == "https://api.example/v1/f?key=k&z=9")
        #expect(try url("/f?") == "https://api.example/v1/f?key=k&z=9")
        #expect(try url("{?a}") == "https://api.example/v1?key=k&a=1&z=9")
        let root = APIClient.testing(RecordingTransport(), baseURL: "https://api.example").with(query: ["key": "k"])
        let path = RequestPath(expanding: "{?a}", ["a": 1])
        #expect(try root.request(for: Request<Data>.get(path)).urlString == "https://api.example/?key=k&a=1")
        #expect(try root.request(for: Request<Data>.get("")).urlString == "https://api.example/?key=k")
    }

    @Test("absolute templates: values determine the path and the query only")
    func absolute() throws {
        let issues: URITemplate = "https://o.example/repos/ann/issues{/number}{?page}"
        #expect(try issues.url() == "https://o.example/repos/ann/issues")
        #expect(try issues.url(["number": 7, "page": 2]) == "https://o.example/repos/ann/issues/7?page=2")
        #expect(try URITemplate("HTTPS://o.example:8443{?x}").url(["x": "y"]) == "HTTPS://o.example:8443?x=y")
        #expect(try URITemplate("http://o.example{/x}#f").url(["x": "@evil"]) == "http://o.example/%40evil")
        let refused: [URITemplate] = [
            "/a", "", "{+url}", "{x}://h/", "https://{x}/", "https://a.{x}.example/", "https://h{x}", "https://h{.x}/",
            "https://h:{x}/", "https://h{/none}evil.example/", "https://h/{dots}", "https://h/../x", "ftp://h/",
            "https:{x}",
        ]
        for template in refused {
            #expect(throws: NetworkError.self, "\(template)") {
                try template.url(["x": "evil.example", "dots": "..", "url": "https://evil.example/"])
            }
        }
        #expect(throws: NetworkError.self) { try URITemplate(stringLiteral: "https://h/{").url() }
    }

    @Test("random values change neither the origin nor the base path")
    func fuzz() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        let templates: [URITemplate] = [
            "/a/{x}", "{+x}", "/a/{+x}", "{/x}", "/a{;x}", "/a{?x}", "/a?b={+x}", "{x}{#x}", "{.x}",
        ]
        let pieces = [
            "/", "..", ".", "\\", "?", "#", "%2e", "%2F", "%", "//", "@", ":", "http://", "a", ";", "\u{301}", " ",
        ]
        var sent = 0
        for _ in 0..<10_000 {
            let value = (0..<Int.random(in: 1...6, using: &random)).map { _ in
                pieces[Int.random(in: 0..<pieces.count, using: &random)]
            }.joined()
            let template = templates[Int.random(in: 0..<templates.count, using: &random)]
            let path = RequestPath(expanding: template, ["x": value])
            guard path.problem == nil else { continue }
            let request = try client.request(for: Request<Data>.get(path))
            sent += 1
            // What a server or a proxy would resolve.
            let text = PercentCoding.decodeLeniently(Array(request.target.upTo("?").utf8))
            let resolved = try URLParts(resolving: request.urlString, against: request.origin, target: "/")
            #expect(request.origin.description == "https://api.example", "seed \(seed): \(value)")
            #expect(resolved.target.begins(with: "/v1"), "seed \(seed): \(template) \(value)")
            #expect(!text.split(separator: 0x2F).contains([0x2E, 0x2E]), "seed \(seed): \(template) \(value)")
        }
        #expect(sent > 1000, "seed \(seed)")
    }
}
