// SPDX-License-Identifier: MIT

import CurlewAuthentication
import CurlewHTTP
import CurlewRecording
import Foundation
import Testing

@testable import CurlewCore
@testable import CurlewTesting

/// Secrets in files and errors of cassettes and mocks, in every form in which a server may repeat them.
@Suite(.timeLimit(.minutes(2)))
struct CassetteRedactionTests {
    /// A random credential with the characters of Base64.
    private static func token(_ random: inout SeededGenerator) -> String {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        let text = (0..<Int.random(in: 20...60, using: &random)).compactMap { _ in letters.randomElement(using: &random)
        }
        return String(text) + "+/" + ["", "=", "=="][Int.random(in: 0..<3, using: &random)]
    }

    /// The forms in which programs write text: as it is, in a URL, in JSON of several encoders, in HTML.
    private static func forms(_ token: String) -> [String] {
        func each(_ escape: (Character) -> String) -> String { token.map(escape).joined() }
        func isPlain(_ character: Character) -> Bool { character.isLetter || character.isNumber }
        func hex(_ character: Character, _ width: Int, upper: Bool) -> String {
            let text = String(character.asciiValue ?? 0, radix: 16, uppercase: upper)
            return String(repeating: "0", count: width - text.count) + text
        }
        return [
            token, each { isPlain($0) ? "\($0)" : "%" + hex($0, 2, upper: true) },
            each { isPlain($0) ? "\($0)" : "%" + hex($0, 2, upper: false) },
            each { "%" + hex($0, 2, upper: true) },
            token.replacingOccurrences(of: "/", with: "\\/"),
            each { isPlain($0) ? "\($0)" : "\\u" + hex($0, 4, upper: true) },
            each { isPlain($0) ? "\($0)" : "\\u" + hex($0, 4, upper: false) },
            each { isPlain($0) ? "\($0)" : "&#x" + hex($0, 2, upper: true) + ";" },
            each { isPlain($0) ? "\($0)" : "&#\($0.asciiValue ?? 0);" },
        ]
    }

    @Test("a credential that the response repeats is not stored, in whatever form", arguments: 0..<9)
    func echoes(form: Int) async throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        let token = Self.token(&random)
        let echo = Self.forms(token)[form]
        for type in [MediaType.json, .text, .html] {
            let folder = try CassetteFolder()
            let text = type == .json ? #"{"note":"you sent \#(echo)!"}"# : "you sent \(echo)!"
            let mock = MockTransport.answering { _ in
                .data(Data(text.utf8), type: type, headers: ["X-Echo": form < 4 ? echo : "none"])
            }
            _ = try await record(folder, mock) { client in
                _ = try await client.send(Request<HTTPResponse>.get("/x").header(.authorization, "Bearer \(token)"))
            }
            let stored = try folder.text()
            let document = try HARDocument(Data(stored.utf8))
            let entry = try #require(document.entries.first)
            let body = entry.response.content.text ?? ""
            #expect(!body.contains(echo) && body.contains("REDACTED"), "seed \(seed) \(type): \(body)")
            #expect(!entry.response.headers.contains { $0.value.contains(echo) }, "seed \(seed)")
        }
    }

    @Test("the user name and the password of Basic are not stored where the response repeats them")
    func basic() async throws {
        let folder = try CassetteFolder()
        let password = "correct-horse-battery"
        let mock = MockTransport.answering { _ in .json(text: #"{"hint":"is \#(password) right?"}"#) }
        let cassette = try Cassette(folder.path(), mode: .recordNew, recording: mock)
        let client = client(cassette, pipeline: [.basic(user: "ann", password: password)])
        _ = try await client.send(Request<HTTPResponse>.get("/x"))
        try await cassette.finish()
        #expect(try !folder.text().contains(password))
    }

    @Test("a mismatch shows no byte of a body whose secrets cannot be recognized")
    func opaqueMismatch() async throws {
        let folder = try CassetteFolder()
        var options = Cassette.Options()
        options.opaqueTypes = [.any]
        func call(_ text: String, _ type: MediaType) -> Request<HTTPResponse> {
            Request<HTTPResponse>(.post, "/x", body: .data(Data(text.utf8), type: type))
        }
        for (type, text) in [
            (MediaType.xml, "<login><password>hunter2</password></login>"),
            (MediaType("multipart/form-data; boundary=b") ?? .multipartFormData, "--b\r\n\r\nhunter2\r\n--b--"),
            (.octetStream, "hunter2"),
        ] {
            let path = try await record(folder, .answering { _ in .text("ok") }, options: options, mode: .recordAll) {
                _ = try await $0.send(call("other", type))
            }
            let cassette = try Cassette(path, mode: .replay, options: options)
            let error = await #expect(throws: NetworkError.self) { try await client(cassette).send(call(text, type)) }
            #expect(error.map { "\($0)" }?.contains("hunter2") == false, "\(String(describing: error))")
            #expect(!cassette.problems.joined().contains("hunter2"))
            #expect(error.map { "\($0)" }?.contains("bytes") == true)
        }
    }

    @Test("a mismatch shows no secret that the client declares, of the request or of an entry of another program")
    func declaredMismatch() async throws {
        let folder = try CassetteFolder()
        try folder.write(
            #"""
            {"log":{"entries":[{"startedDateTime":"2026-01-02T03:04:05Z",
            "request":{"method":"GET","url":"https://api.test/bothunter2/send?appid=hunter2&a=1"},
            "response":{"status":200}}]}}
            """#)
        let rules = FieldRules(secretMembers: ["appid"], secretPaths: ["/bot*"])
        let cassette = try Cassette(folder.path(), mode: .replay)
        let client = client(cassette, configuration: APIClient.Configuration(fields: rules))
        let error = await #expect(throws: NetworkError.self) {
            try await client.send(
                Request<HTTPResponse>.get("/botcanary7/send").query(["appid": "canary7", "a": "2"]))
        }
        let text = try #require(error.map { "\($0)" })
        #expect(!text.contains("hunter2") && !text.contains("canary7"), "\(text)")
        #expect(!cassette.problems.joined().contains("hunter2"))
    }

    @Test("a request without a stub or a route shows no secret of its path or query")
    func mockMismatch() async throws {
        let rules = FieldRules(secretMembers: ["appid"], secretPaths: ["/bot*"])
        let mock = MockTransport { $0.on(.get, "/other/send", .status(204)) }
        let client = client(mock, configuration: APIClient.Configuration(fields: rules))
        let error = await #expect(throws: NetworkError.self) {
            try await client.send(
                Request<HTTPResponse>.get("/bothunter2/send;jsessionid=hunter2").query([
                    "appid": "hunter2", "token": "hunter2",
                ]))
        }
        #expect(error.map { "\($0)" }?.contains("hunter2") == false, "\(String(describing: error))")
    }

    @Test("items that look the same but have other bytes do not match")
    func canonicalEquivalence() async throws {
        let composed = "caf\u{E9}", decomposed = "cafe\u{301}"
        #expect(
            try await !CassetteMatchingTests.matches(
                .get("/x").query(["q": composed]), .get("/x").query(["q": decomposed])))
        #expect(
            try await !CassetteMatchingTests.matches(
                CassetteMatchingTests.post("q=caf%C3%A9", .form), CassetteMatchingTests.post("q=cafe%CC%81", .form)))
        #expect(
            try await CassetteMatchingTests.matches(
                .get("/x").query(["q": composed]), .get("/x").query(["q": composed])))
    }
}
