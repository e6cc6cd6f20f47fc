// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewHTTP

@Suite(.timeLimit(.minutes(1)))
struct JSONRedactionTests {
    @Test(
        "The value of a secret member is replaced whole, whatever it is",
        arguments: [
            (#"{"password":"x"}"#, #"{"password":"REDACTED"}"#),
            (#"{ "password" : "x" , "a" : 1 }"#, #"{ "password" : "REDACTED" , "a" : 1 }"#),
            (#"{"token":12345,"a":1}"#, #"{"token":"REDACTED","a":1}"#),
            (#"{"token":null}"#, #"{"token":"REDACTED"}"#),
            (#"{"secret":{"a":["x",{"b":"y"}]},"c":1}"#, #"{"secret":"REDACTED","c":1}"#),
            (#"{"secret":["x","}"],"c":1}"#, #"{"secret":"REDACTED","c":1}"#),
            (#"[{"token":true},{"token":"b"}]"#, #"[{"token":"REDACTED"},{"token":"REDACTED"}]"#),
            (#"{"password":"a\"b\\","c":1}"#, #"{"password":"REDACTED","c":1}"#),
            (#"{"pass\u0077ord":"x"}"#, #"{"pass\u0077ord":"REDACTED"}"#),
            (#"{"a":"password","b":"x"}"#, #"{"a":"password","b":"x"}"#),
            (#"{"url":"https://a.test/?token=x&b=1"}"#, #"{"url":"https://a.test/?token=REDACTED&b=1"}"#),
            (#"{"url":"https://a.test/?b=1\u0026token=x"}"#, #"{"url":"https://a.test/?b=1\u0026token=REDACTED"}"#),
            (#"{"url":"https://ada:pw@a.test/"}"#, #"{"url":"https://a.test/"}"#),
            (#"{"mail":"ada@a.test","sum":"1+1=2"}"#, #"{"mail":"ada@a.test","sum":"1+1=2"}"#),
        ])
    func replaces(text: String, expected: String) {
        #expect(Redaction.standard.json(text) == expected)
    }

    @Test(
        "Text that is cut off or malformed never shows what follows a secret name",
        arguments: [
            #"{"password":"hunter2"#, #"{"password":"hunter2\"#, #"{"password":{"a":"hunter2"#, #"{"password":hunter2"#,
            #"{"password":["hunter2""#, #"{"password"  :   hunter2}"#, #""password":"hunter2""#,
            #"}}]{"password":"hunter2""#, #"{"a":"x?token=hunter2"#,
        ])
    func malformed(text: String) {
        let shown = Redaction.standard.json(text)
        #expect(!shown.contains("hunter"), "\(shown)")
    }

    @Test("Text without secrets returns as it was, JSON or not")
    func unchanged() {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<500 {
            let text = random.text(upTo: 40).filter { $0 != "\"" }
            #expect(Redaction.standard.json(text) == text)
            let document = Document.random(secrets: false, depth: 3, using: &random).text
            #expect(Redaction.standard.json(document) == document)
        }
    }

    @Test("No secret of a random document is shown, wherever the document is cut")
    func neverLeaks() {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        let redactor = Redaction.standard
        for _ in 0..<300 {
            let text = Document.random(secrets: true, depth: 4, using: &random).text
            let whole = redactor.json(text)
            #expect(!whole.contains(Document.canary), "seed \(seed): \(text)")
            let bytes = Array(text.utf8)
            for _ in 0..<20 {
                let cut = Int.random(in: 0...bytes.count, using: &random)
                let shown = redactor.json(String(decoding: bytes[..<cut], as: UTF8.self))
                #expect(!shown.contains(Document.canary), "seed \(seed), cut at \(cut): \(text)")
            }
        }
    }

    @Test("A document stays a document: what is not secret is still there")
    func keepsTheRest() {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            let document = Document.random(secrets: true, depth: 4, using: &random)
            let shown = Redaction.standard.json(document.text)
            #expect(shown == document.redacted, "seed \(seed): \(document.text)")
        }
    }
}

extension Redaction {
    fileprivate func json(_ text: String) -> String { bodyText(text, mediaType: .json) }
}

/// A random JSON text, and what must be left of it.
private struct Document {
    /// Part of every secret and of nothing else. Short, so that a cut rarely falls into it.
    static let canary = "§"

    var text: String
    var redacted: String

    static func random(secrets: Bool, depth: Int, using random: inout SeededGenerator) -> Document {
        switch Int.random(in: 0..<(depth > 0 ? 7 : 4), using: &random) {
        case 0: return plain(["12", "-0.5e3", "true", "null"].randomElement(using: &random) ?? "0")
        case 1...3: return plain("\"\(innocent(&random))\"")
        case 4: return list(secrets: secrets, depth: depth - 1, using: &random)
        default: return object(secrets: secrets, depth: depth - 1, using: &random)
        }
    }

    private static func plain(_ text: String) -> Document { Document(text: text, redacted: text) }

    private static func list(secrets: Bool, depth: Int, using random: inout SeededGenerator) -> Document {
        let items = (0..<Int.random(in: 0...3, using: &random)).map { _ in
            Document.random(secrets: secrets, depth: depth, using: &random)
        }
        let space = blank(&random)
        return Document(
            text: "[\(space)" + items.map(\.text).joined(separator: ",\(space)") + "]",
            redacted: "[\(space)" + items.map(\.redacted).joined(separator: ",\(space)") + "]")
    }

    private static func object(secrets: Bool, depth: Int, using random: inout SeededGenerator) -> Document {
        var members: [Document] = []
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            let space = blank(&random)
            if secrets, Bool.random(using: &random) {
                let names = ["password", "newPassword", "access_token", "client-secret", "API_KEY", #"t\u006fken"#]
                let name = names.randomElement(using: &random) ?? "token"
                let value = secret(depth: depth, using: &random)
                let start = "\"\(name)\"\(space):\(space)"
                members.append(Document(text: start + value, redacted: start + "\"REDACTED\""))
            } else {
                let value = Document.random(secrets: secrets, depth: depth, using: &random)
                let start = "\"n\(innocent(&random))_count\"\(space):\(space)"
                members.append(Document(text: start + value.text, redacted: start + value.redacted))
            }
        }
        return Document(
            text: "{" + members.map(\.text).joined(separator: ",") + "}",
            redacted: "{" + members.map(\.redacted).joined(separator: ",") + "}")
    }

    private static func secret(depth: Int, using random: inout SeededGenerator) -> String {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: "\"\(canary)\(innocent(&random))\""
        case 1: "[\"\(canary)\", {\"a\": \"\(canary)\"}]"
        case 2: "{\"b\": [\"]\", \"\(canary)\"], \"c\": \"\\\"\(canary)}\"}"
        default: "\"\\\\\(canary)\\\"\(canary)\""
        }
    }

    private static func innocent(_ random: inout SeededGenerator) -> String {
        let pieces = ["a", "é", "\\\"", "\\\\", "{", "}", "[", "]", ",", ";", " ", "password", "\\n", "𝄞"]
        let count = Int.random(in: 0...6, using: &random)
        return (0..<count).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
    }

    private static func blank(_ random: inout SeededGenerator) -> String {
        ["", " ", "\n  ", "\t"].randomElement(using: &random) ?? ""
    }
}
