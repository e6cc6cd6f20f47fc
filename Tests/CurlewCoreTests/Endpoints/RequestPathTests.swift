// SPDX-License-Identifier: MIT

import Testing

@Suite(.timeLimit(.minutes(1)))
struct RequestPathTests {
    enum Section: String { case top = "top stories" }
    struct Code: RawRepresentable { let rawValue: Int }

    @Test func literalsPassAndGetTheirSlash() {
        #expect(("/users" as RequestPath).encoded == "/users")
        #expect(("users/1" as RequestPath).encoded == "/users/1")
        #expect(("" as RequestPath).encoded == "")
        #expect(("/café menu/%20" as RequestPath).encoded == "/caf%C3%A9%20menu/%20")
    }

    @Test func valuesAreEncodedAsOneSegment() {
        let id = UUID()
        #expect(("/u/\("a/b c?d#e%2F")" as RequestPath).encoded == "/u/a%2Fb%20c%3Fd%23e%252F")
        #expect(("/u/\(7)/\(true)/\(2.5)/\("x".dropLast(0))" as RequestPath).encoded == "/u/7/true/2.5/x")
        #expect(
            ("/u/\(Section.top)/\(Code(rawValue: 3))/\(id)" as RequestPath).encoded
                == "/u/top%20stories/3/\(id.uuidString)")
        #expect(("/u/\("日本")" as RequestPath).encoded == "/u/%E6%97%A5%E6%9C%AC")
    }

    @Test func rawTextIsTakenAsItIs() {
        #expect(("/files/\(raw: "a/b%20c")" as RequestPath).encoded == "/files/a/b%20c")
        #expect(("/files/\(raw: "a/../b")" as RequestPath).problem == nil)
        #expect(("/files/\(raw: "a?b")" as RequestPath).problem != nil)
    }

    @Test(arguments: [
        "..", ".", "../x", "x/..", "a/../b", "a\\..\\b", "..\\x", "%2e%2e", "%2E.", ".%2e/x", "%2e", "x%2f..%2fy",
        "..;", ".;", "..;x=1", "..;/admin", "..%3Bx", "..%00", "..%00.png", "..%09", ".. ", " ..", "..\t", "..\0x",
        ".. .",
        "..%20", "..%3f", "..%23a", "%c0%ae%c0%ae", "a%c0%af..%c0%afb", "%25c0%25ae.", "%2e%2e%3b", "..\u{7f}",
        "%252e%252e", "%25252e%25252e%25252f", "a%5c..%5cb", "%a/../x", "%%32%65%%32%65", "..%2f", "x/%2e/y",
    ])
    func valuesWithDotSegmentsAreRefused(value: String) {
        let path: RequestPath = "/films/\(value)"
        #expect(path.problem?.reason == .invalidRequest)
        #expect(path.problem?.detail.contains("dot segment") == true)
        #expect(RequestPath("/films/" + value).problem != nil)
    }

    @Test func aSemicolonInAValueBeginsNoParameters() {
        let path: RequestPath = "/users/\("a;role=admin")"
        #expect(path.problem == nil)
        #expect(path.encoded == "/users/a%3Brole=admin")
        #expect(("/users/..;/admin" as RequestPath).problem != nil)
        #expect(("/users/.\(";x")/admin" as RequestPath).problem != nil)
        #expect(("/map;zoom=3/x" as RequestPath).encoded == "/map;zoom=3/x")
    }

    @Test(arguments: [
        "a;b", ";a", "a b", " a", "..a;b", "1.;x", "a%00", "%c0%aea", "...", "a..b", ".hidden", "v1.0", "1.", "..a",
        "%2e%2e%2e", "a%2eb", "100%", "%zz",
    ])
    func valuesThatLookAlikePass(value: String) {
        let path: RequestPath = "/films/\(value)"
        #expect(path.problem == nil)
        #expect(PercentCoding.decode(path.encoded) == "/films/" + value)
    }

    @Test func dotSegmentsMadeOfPartsAreRefused() {
        let dot = "."
        #expect(("/a/.\(dot)/b" as RequestPath).problem != nil)
        #expect(("/a/\(dot)a" as RequestPath).problem != nil)
        #expect(("/a/../b" as RequestPath).problem != nil)
        #expect(("/a/%2e%2E/b" as RequestPath).problem != nil)
    }

    @Test(arguments: [
        ("/users?page=1", "query"), ("/users#top", "query"), ("/a\\b", "/"), ("/a\nb", "control"),
        ("https://other.example/x", "get(url:)"),
    ])
    func writtenPartsAreRefusedWithAdvice(text: String, advice: String) {
        let problem = RequestPath(text).problem
        #expect(problem?.reason == .invalidRequest)
        let text = [problem?.detail, problem?.hint].compactMap { $0 }.joined(separator: " ")
        #expect(text.contains(advice))
    }

    @Test func anEmptyValueIsRefusedBecauseItNamesAnotherResource() {
        let id = ""
        #expect(("/users/\(id)" as RequestPath).problem?.detail.contains("empty") == true)
        #expect(("/users/\(raw: id)" as RequestPath).problem == nil)
    }

    @Test func theErrorIsKeptAndThrownBeforeAnyByteIsSent() async {
        let transport = RecordingTransport()
        let client = APIClient.testing(transport)
        let hostile = "../admin"
        let error = await client.failure(Request<Person>.get("/films/\(hostile)", name: "film"))
        #expect(error?.reason == .invalidRequest)
        #expect(error?.routeName == "film")
        #expect(transport.requests.isEmpty)
        #expect(await client.failure(.person(id: 1)) == nil)
    }

    @Test func aPathChangesNeitherHostNorBasePath() async throws {
        let transport = RecordingTransport()
        let client = APIClient.testing(transport)
        for path in ["//evil.example/x", "/:80/x", "/@evil.example", ":443"] {
            try await client.send(Request<Void>(.get, RequestPath(path)))
        }
        #expect(transport.requests.map(\.origin.host) == Array(repeating: "api.example", count: 4))
        #expect(transport.requests.allSatisfy { $0.target.hasPrefix("/v1/") })
        #expect(transport.requests.first?.urlString == "https://api.example/v1//evil.example/x")
    }
}
