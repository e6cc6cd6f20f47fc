// SPDX-License-Identifier: MIT

import Testing

@Suite(.timeLimit(.minutes(1)))
struct ProblemDetailsTests {
    @Test("The example of RFC 9457 §3 is read")
    func example() throws {
        let text = """
            {"type": "https://example.com/probs/out-of-credit", "title": "You do not have enough credit.",
             "detail": "Your current balance is 30, but that costs 50.", "instance": "/account/12345/msgs/abc",
             "balance": 30, "accounts": ["/account/12345", "/account/67890"]}
            """
        let problem = try decode(text)
        #expect(problem.type == "https://example.com/probs/out-of-credit")
        #expect(problem.title == "You do not have enough credit.")
        #expect(problem.status == nil)
        #expect(problem.detail == "Your current balance is 30, but that costs 50.")
        #expect(problem.instance == "/account/12345/msgs/abc")
    }

    @Test(
        "A member of the wrong type is ignored (RFC 9457 §3.1)",
        arguments: [
            "{}", #"{"type": null, "title": null}"#,
            #"{"type": 1, "title": ["x"], "status": "404", "detail": {}, "instance": true}"#, #"{"status": 4.5}"#,
        ])
    func lenient(text: String) throws {
        #expect(try decode(text) == ProblemDetails())
        #expect(try decode(text).type == "about:blank")
    }

    @Test("JSON that is no object is refused", arguments: ["[]", "3", "\"x\"", "null"])
    func notAnObject(text: String) {
        #expect(throws: (any Error).self) { try decode(text) }
    }

    @Test("A problem reads back as it was written")
    func roundTrip() throws {
        let problem = ProblemDetails(type: "urn:x", title: "T", status: 404, detail: "D", instance: "/i")
        #expect(try JSONDecoder().decode(ProblemDetails.self, from: JSONEncoder().encode(problem)) == problem)
        #expect(ProblemDetails.mediaType.description == "application/problem+json")
    }

    private func decode(_ text: String) throws -> ProblemDetails {
        try JSONDecoder().decode(ProblemDetails.self, from: Data(text.utf8))
    }
}
