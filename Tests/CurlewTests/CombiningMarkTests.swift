// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewAuthentication
@testable import CurlewCore

/// Signs of a protocol with a combining mark behind them: other Characters, and the same bytes to every server.
@Suite(.timeLimit(.minutes(1)))
struct CombiningMarkTests {
    static let canary = "hunter2"

    @Test(
        "Errors and logs show no secrets, whatever marks stand around them",
        arguments: [
            "see\u{600} code=hunter2", "\u{600}\u{2003}code=hunter2", "a \u{301}code=hunter2", "x\u{110BD} key=hunter2",
            "\"\u{301}password\": \"hunter2\"", "{\"password\":\"\u{301}hunter2\"}",
            "https:/\u{338}/a.test/?token=hunter2",
            "https://u:hunter2@\u{301}a.test/", "https://a.test/?\u{301}a=1&\u{301}token=hunter2",
            "password=\u{338}hunter2", "Authorization:\u{301} Bearer hunter2", "<password>\u{338}hunter2</password>",
            "'\u{301}password': '\u{301}hunter2'",
        ])
    func texts(text: String) {
        for shown in [Redaction.standard.text(text), Redaction.standard.bodyText(text, mediaType: nil)] {
            #expect(!shown.contains(Self.canary), "\(shown)")
        }
    }

    @Test(
        "URLs in strings of JSON lose their secrets, whatever the encoder has escaped",
        arguments: [
            #"{"url":"https://a.test/?token\u003dhunter2\u0026a\u003d1"}"#, #"{"url":"https:\/\/u:hunter2@a.test\/"}"#,
            #"{"url":"https:\/\/a.test\/?a=1\u0026token=hunter2"}"#, #"{"url":"https://u:hunter2\u0040a.test/"}"#,
            #"{"note":"password: x, see https://a.test/?code=hunter2"}"#,
            #"{"note":"https://a.test/ and https://u:hunter2@b.test/"}"#,
            #"{"note":"https://a.test/?password=hunter2 hunter2"}"#,
        ])
    func escapedURLs(text: String) {
        let shown = Redaction.standard.bodyText(text, mediaType: .json)
        #expect(!shown.contains(Self.canary), "\(shown)")
        #expect(Redaction.standard.bodyText(shown, mediaType: .json) == shown)
    }

    @Test(
        "An API key is added unless the query has an item of that name, however it is written",
        arguments: [
            ("/?key=own", false), ("/?a=1&key=own", false), ("/?k%65y=own", false), ("/?key", false),
            ("/?key%CC%81=own", true), ("/?monkey=1", true), ("/?a=key", true), ("/", true), ("/?", true),
        ])
    func apiKey(target: String, isAdded: Bool) async throws {
        let client = APIClient.mock(pipeline: [.apiKey("mine", in: .query("key"))]) { $0.onAny { _ in .status(204) } }
        try await client.send(Request<HTTPResponse>(.get, url: "https://mock.test" + target))
        #expect(client.recordedCalls.first?.request.target.contains("key=mine") == isAdded)
    }

    @Test("A path of a digest challenge is a path, whatever mark stands behind its slash")
    func digestSpace() throws {
        let challenge = try #require(
            HTTPChallenge.list(["Digest realm=r, nonce=n, qop=auth, domain=\"/\u{301}x\""]).first)
        let digest = try #require(DigestChallenge(challenge))
        #expect(!digest.covers("/elsewhere"), "the challenge is for one path, not for the whole origin")
        let two = try #require(
            HTTPChallenge.list(["Digest realm=r, nonce=n, qop=auth, domain=\"/a \u{301} /b/\""]).first)
        let both = try #require(DigestChallenge(two))
        #expect(both.covers("/a") && both.covers("/a/x?y") && both.covers("/b/c") && !both.covers("/ab"))
    }
}
