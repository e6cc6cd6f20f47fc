// SPDX-License-Identifier: MIT

import ConformanceCases
import Testing

@testable import CurlewHTTP

@Suite(.timeLimit(.minutes(1)))
struct SecretNameTests {
    private static let secret = "hunter2"

    @Test("Every secret name is known, in every place", arguments: [SecretName.Location.field, .pair, .member])
    func secrets(location: SecretName.Location) {
        let unknown = SecretNames.secret.filter { !SecretName.isSecret($0.utf8, in: location) }
        #expect(unknown.isEmpty, "\(unknown)")
        #expect(SecretNames.secret.count >= 500 && SecretNames.documented.count >= 250)
    }

    @Test("An ordinary name is known too, in every place", arguments: [SecretName.Location.field, .pair, .member])
    func ordinary(location: SecretName.Location) {
        let hidden = SecretNames.ordinary.filter { SecretName.isSecret($0.utf8, in: location) }
        #expect(hidden.isEmpty, "\(hidden)")
    }

    @Test(
        "Names are words: at a change of case, at digits, at everything else",
        arguments: [
            ("X-Api-Key", "x api key"), ("APIKey", "api key"), ("apiKEY2", "api key 2"), ("", ""), ("__a..b", "a b"),
            ("OAuthToken", "o auth token"), ("user[new_password]", "user new password"), ("caf\u{e9}Pin", "caf pin"),
            ("HTTP2Code", "http 2 code"), ("a", "a"), ("Ab", "ab"), ("ABc", "a bc"),
        ])
    func words(name: String, words: String) {
        #expect(SecretName.words(name.utf8).joined(separator: " ") == words)
    }

    @Test("A short name is secret in a pair, and not as a member", arguments: ["code", "key", "sid", "ticket"])
    func bare(name: String) {
        #expect(SecretName.isSecret(name.utf8, in: .pair) && !SecretName.isSecret(name.utf8, in: .member))
    }

    @Test("Fields carry credentials and users under names of their own")
    func fields() {
        for name in ["Sec-WebSocket-Protocol", "X-Forwarded-User", "From", "X-User-Id", "Key"] {
            #expect(HTTPField.Name(name).isSensitive, "\(name)")
        }
    }

    @Test("No secret is shown in any form of text, and what surrounds it is", arguments: SecretNames.secret)
    func texts(name: String) {
        let secret = Self.secret
        // The values of some fields extend to the end of the line.
        let isLine = ["authorization", "cookie", "info", "credentials"].contains { name.lowercased().contains($0) }
        let encoded = PercentCoding.encode(name, for: .formValue)
        let cases: [(kind: String, text: String)] = [
            ("form", "keep=1&\(encoded)=\(secret)&kept=2"), ("json", #"{"keep":1,"\#(name)":"\#(secret)","kept":2}"#),
            ("json", #"{"keep":"\"\#(name)\":\"\#(secret)\"","kept":2}"#),
            ("json", #"{"keep":"bad \#(name)=\#(secret)","kept":2}"#), ("text", "keep \(name)=\(secret) kept"),
            ("text", "keep \(name): \(secret), kept"), ("text", #"keep {"\#(name)" : "\#(secret)"} kept"#),
            ("text", #"keep {\"\#(name)\":\"\#(secret)\"} kept"#), ("text", "keep '\(name)' => '\(secret)' kept"),
            ("text", "keep https://a.test/cb?\(encoded)=\(secret)&next=https://b.test kept"),
            ("url", "/keep?\(encoded)=\(secret)&next=https://x.test/kept"),
            ("url", "https://a.test/keep?next=https%3A%2F%2Fb.test%2F%3F\(encoded)%3D\(secret)&kept"),
            ("url", "<https://a.test/keep?\(encoded)=\(secret)>; rel=kept"),
            ("url", "https://a.test/keep#/cb?\(encoded)=\(secret)&kept"),
            ("url", "https://a.test/keep;\(encoded)=\(secret)/kept?a=1"),
        ]
        for (kind, text) in cases {
            let shown =
                switch kind {
                case "form": Redaction.standard.bodyText(text, mediaType: .form)
                case "json": Redaction.standard.bodyText(text, mediaType: .json)
                case "url": Redaction.standard.url(text)
                default: Redaction.standard.text(text)
                }
            #expect(!shown.contains(secret), "\(kind): \(text) → \(shown)")
            #expect(shown.contains("keep") && shown.contains("REDACTED"), "\(text) → \(shown)")
            #expect(shown.contains("kept") || isLine, "\(text) → \(shown)")
        }
    }

    @Test(
        "User information is shown in no form of a URL",
        arguments: [
            "https://u:hunter2@a.test/kept", "//u:hunter2@a.test/kept", "https:/u:hunter2@a.test/kept",
            "</kept>; rel=a, <https://u:hunter2@a.test/>; rel=b", "0; url=https://u:hunter2@a.test/kept",
            "/kept?next=https://u:hunter2@a.test/", "/kept?next=https%3A%2F%2Fu%3Ahunter2%40a.test",
            "kept https:\\/\\/u:hunter2@a.test\\/", "kept https\\u003a//u:hunter2@a.test",
        ])
    func userInformation(url: String) {
        for shown in [Redaction.standard.url(url), Redaction.none.url(url)] {
            #expect(!shown.contains(Self.secret) && shown.contains("kept"), "\(url) → \(shown)")
        }
        #expect(!Redaction.standard.text(url).contains(Self.secret))
    }

    @Test(
        "Ordinary text is shown as it is",
        arguments: [
            "status_code: 200, retry in 5 s", "No value for auth_type=basic at $.items[0].key",
            "see https://a.test:8080/x",
            "Basic realm=\"api\"", "http://session:8080/health?page_token=abc", "10:30:15 GET /v1/author/1?sort_key=a",
            "Auth::Error at Token::parse", "ada@a.test", "image:tag@sha256:abc", "{\"total_tokens\":12,\"code\":404}",
            "C:\\temp\\new", "a \\\"b\\\" c", "5\" and 6\"", "%41%2", "\\u00", "\\",
        ])
    func plain(text: String) {
        #expect(Redaction.standard.text(text) == text)
        #expect(Redaction.standard.bodyText(text, mediaType: .json) == text)
    }

    @Test(
        "A value extends to its end, and not beyond it",
        arguments: [
            ("password = hunter2 kept", "password = REDACTED kept"),
            ("Authorization=Bearer hunter2 kept", "Authorization=REDACTED"),
            ("X-Auth: Bearer hunter2, kept", "X-Auth: REDACTED, kept"),
            ("password: Optional(\"hunter2 hunter2\") kept", "password: REDACTED) kept"),
            ("password='hunter2 hunter2' kept", "password='REDACTED' kept"),
            ("password: \"\"\"hunter2 hunter2\"\"\" kept", "password: \"REDACTED\" kept"),
            ("C:\\token=hunter2 kept", "C:\\token=REDACTED kept"), ("token=a%26hunter2&kept", "token=REDACTED&kept"),
            ("\\npin=hunter2 kept", "\\npin=REDACTED kept"), ("%2561ccess_token=hunter2", "%2561ccess_token=REDACTED"),
            ("access%5Ftoken=hunter2&kept", "access%5Ftoken=REDACTED&kept"),
        ])
    func ends(text: String, expected: String) {
        #expect(Redaction.standard.text(text) == expected)
    }

    @Test(
        "A hostile text takes linear time",
        arguments: [
            "=", ":", "a=", "\"", "\\", "\\\"", "<", "<a", "%25", "token=", "token:", "\"token\":", "//", "://a@", "?",
            "a.",
            "{\"token\":{", "Bearer ", "\\u0022", "\"a\":\"<b", "password='", "/a", "x:y@",
        ])
    func hostile(piece: String) {
        let redaction = Redaction.standard.adding(Redaction.Rules(secretPaths: ["/a/*/b*/c"]))
        let text = String(repeating: piece, count: (1 << 17) / piece.utf8.count)
        let start = ContinuousClock.now
        for kind in [SecretScanner.Kind.text, .json, .url, .form] {
            _ = SecretScanner.redact(text, as: kind, redaction)
        }
        #expect(ContinuousClock.now - start < .seconds(20))
    }
}
