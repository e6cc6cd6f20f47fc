// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore
@testable import CurlewTesting

/// Secrets in errors of cassettes and mocks, and texts that only look the same.
@Suite(.timeLimit(.minutes(2)))
struct CassetteRedactionTests {
    @Test("A mismatch shows no byte of a body whose secrets cannot be recognized")
    func opaqueMismatch() async throws {
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
            let folder = try CassetteFolder()
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

    @Test("A mismatch shows no declared secret, of the request or of another program's entry")
    func declaredMismatch() async throws {
        let folder = try CassetteFolder()
        try folder.write(
            #"""
            {"log":{"entries":[{"startedDateTime":"2026-01-02T03:04:05Z",
            "request":{"method":"GET","url":"https://api.test/bothunter2/send?appid=hunter2&a=1"},
            "response":{"status":200}}]}}
            """#)
        let rules = Redaction.Rules(secretMembers: ["appid"], secretPaths: ["/bot*"])
        let cassette = try Cassette(folder.path(), mode: .replay)
        let client = client(cassette, configuration: APIClient.Configuration(fields: rules))
        let error = await #expect(throws: NetworkError.self) {
            try await client.send(
                Request<HTTPResponse>(.get, "/botcanary7/send").query(["appid": "canary7", "a": "2"]))
        }
        let text = try #require(error.map { "\($0)" })
        #expect(!text.contains("hunter2") && !text.contains("canary7"), "\(text)")
        #expect(!cassette.problems.joined().contains("hunter2"))
    }

    @Test("A request without a stub or a route shows no secret of its path or query")
    func mockMismatch() async throws {
        let rules = Redaction.Rules(secretMembers: ["appid"], secretPaths: ["/bot*"])
        let mock = MockTransport { $0.on(.get, "/other/send", .status(204)) }
        let client = client(mock, configuration: APIClient.Configuration(fields: rules))
        let error = await #expect(throws: NetworkError.self) {
            try await client.send(
                Request<HTTPResponse>(.get, "/bothunter2/send;jsessionid=hunter2").query([
                    "appid": "hunter2", "token": "hunter2",
                ]))
        }
        #expect(error.map { "\($0)" }?.contains("hunter2") == false, "\(String(describing: error))")
    }

    @Test("Items that look the same but have other bytes do not match")
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
