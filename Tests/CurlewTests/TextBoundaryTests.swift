// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewAuthentication
@testable import CurlewCaching
@testable import CurlewCore

/// A sign followed by a combining mark is another `Character`, and the same byte to everyone who reads the message.
@Suite(.timeLimit(.minutes(1)))
struct TextBoundaryTests {
    private static let marks = ["\u{301}", "\u{200D}", "\u{FE0F}"]

    @Test("A user name with a colon is no user name for Basic, whatever follows the colon", arguments: marks)
    func basic(mark: String) async throws {
        let mock = MockTransport.answering { _ in HTTPResponse() }
        let client = APIClient.testing(
            mock, baseURL: "https://api.test", pipeline: [.basic(user: "admin:\(mark)x", password: "p")])
        #expect(await failureReason { try await client.send(Request<Void>.get("/")) } == .configuration)
        #expect(mock.requestCount == 0)
    }

    @Test("Quoted arguments, lists and names of hosts and proxies are read by bytes", arguments: marks)
    func protocolText(mark: String) throws {
        #expect(CacheControl("x=\"a\\\"\(mark)b\"").directives.first?.argument == "a\"\(mark)b")
        let vary = CacheVariant.text(for: ["Prefer": "1 ,\(mark)2"], ["Vary": "Prefer"])
        #expect(vary == CacheVariant.text(for: ["Prefer": "1,\(mark)2"], ["Vary": "Prefer"]))
        #expect(CacheVariant.names(["Vary": "Accept,\(mark)"]) == nil)
        #expect(TransportConfiguration.Proxy.Server("http://a:b@\(mark)proxy.example") == nil)
        let proxy = try #require(TransportConfiguration.Proxy.Server("http://u:\(mark)p@proxy.example:81"))
        #expect(proxy.user == "u" && proxy.password == "\(mark)p" && proxy.port == 81)
        #expect(MediaType(fileName: "a.\(mark)b.png") == MediaType("image/png"))
    }

    @Test("Text of a server's challenge is sent back in safe quotes", arguments: marks)
    func digest(mark: String) throws {
        for text in ["a\\\"\(mark)b", "a\\\\\(mark)", "\\\"\(mark), uri=\\\"\(mark)/"] {
            var digest = DigestAuthenticator(user: "ada", password: "pw") { "c" }
            let challenge = HTTPChallenge.list([
                "Digest realm=\"\(text)\", nonce=\"n\", opaque=\"\(text)\", qop=\"auth\", algorithm=SHA-256"
            ])
            #expect(digest.receive(challenge, sent: nil) == .again)
            let sent = digest.authorization(method: .get, target: "/x")
            let field = try #require(sent)
            let written = try #require(HTTPChallenge.list([field]).first)
            for name in ["realm", "opaque"] {
                #expect(
                    written[name].map { Array($0.utf8) } == challenge.first?[name].map { Array($0.utf8) }, "\(field)")
            }
            #expect(written["uri"] == "/x" && written["qop"] == "auth", "\(field)")
        }
    }

    @Test("A URL loses its secrets, whatever follows the signs that separate its parts", arguments: marks)
    func urls(mark: String) {
        for (url, expected) in [
            ("https://a.test/?token=\(mark)hunter2", "https://a.test/?token=REDACTED"),
            ("https://a.test/?a=1&\(mark)token=hunter2", "https://a.test/?a=1&\(mark)token=REDACTED"),
            ("https://a.test/?a=1;\(mark)token=hunter2", "https://a.test/?a=1;\(mark)token=REDACTED"),
            ("https://a.test/?\(mark)token=hunter2&b=1", "https://a.test/?\(mark)token=REDACTED&b=1"),
            ("https://a.test/#\(mark)token=hunter2", "https://a.test/#\(mark)token=REDACTED"),
            ("https://ada:hunter2@\(mark)a.test/", "https://\(mark)a.test/"),
            ("https://\(mark)ada:hunter2@a.test/", "https://a.test/"),
            ("https://ada:hunter2@a.test/\(mark)@b", "https://a.test/\(mark)@b"),
        ] {
            #expect(Array(Redaction.standard.url(url).utf8) == Array(expected.utf8), "\(url)")
        }
    }

    @Test("Text and JSON lose their secrets, whatever follows the signs that separate them", arguments: marks)
    func bodies(mark: String) {
        let bodies = [
            ("password=\(mark)hunter2", MediaType.form), ("a=1&\(mark)password=hunter2", .form),
            ("with password=\(mark)hunter2 tried", .text), ("at https://\(mark)u:hunter2@\(mark)a.test/ it is", .text),
            (#"{"url":"https://a.test/?\#(mark)token=hunter2"}"#, .json),
            (#"{"url":"https://\#(mark)u:hunter2@\#(mark)a.test/"}"#, .json),
            (#"{"url":"https://a.test/?a=1\u0026\#(mark)token=hunter2"}"#, .json),
        ]
        for (text, type) in bodies {
            let shown = Redaction.standard.bodyText(text, mediaType: type)
            #expect(!shown.contains("hunter2"), "\(shown)")
        }
    }
}
