// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore
@testable import CurlewObservability
@testable import CurlewRecording
@testable import CurlewResilience

/// What an app declares in `APIClient.Configuration.fields`, and where it counts.
@Suite(.timeLimit(.minutes(1)))
struct DeclaredSecretsTests {
    typealias Page = SecretMatrixTests.Page

    static let canary = "hunter2"
    static let rules = Redaction.Rules(
        harmless: ["X-Partition-Session"], secret: ["X-Device"], secretMembers: ["App-ID", "ssn"],
        secretPaths: ["/bot*", "/services/*/*/*"])

    @Test(
        "One declaration covers logs, URLs, errors, previews, commands, redirects and events",
        arguments: [Redaction.standard, Redaction.none.adding(Redaction.Rules(secretMembers: ["mine"]))])
    func everywhere(redaction: Redaction) async throws {
        let page = Page()
        for level in LogEntry.Level.allCases {
            let pipeline = Pipeline.standard.adding(.logging(level, redaction: redaction) { page.write("\($0)") })
                .adding(.logging(level, redaction: redaction) { page.write("\($0)") }, at: .attemptTimeout)
            let configuration = APIClient.Configuration(observers: [page], fields: Self.rules)
            let client = APIClient.mock(pipeline: pipeline, configuration: configuration) {
                $0.onAny { call in
                    if call.request.origin.host == "other.test" {
                        return .status(307, headers: [.location: "https://third.test/bothunter2/y?appid=hunter2"])
                    }
                    guard call.request.origin.host != "third.test" else {
                        return HTTPResponse(
                            status: .badRequest, headers: ["X-Device": Self.canary, .contentType: "application/json"],
                            body: ResponseBody(Data(#"{"appId":"hunter2","a":"/bothunter2/send"}"#.utf8)))
                    }
                    return .status(307, headers: [.location: "https://other.test/bothunter2/x?appid=hunter2"])
                }
            }
            let body = #"{"ssn":"hunter2","text":"see https://a.test/services/hunter2/hunter2/hunter2"}"#
            let call = Request<String>.post("/v1/bothunter2/send", body: .data(Data(body.utf8), type: .json))
                .query(["appid": Self.canary]).header("x-device", Self.canary)
            let error = await #expect(throws: NetworkError.self) { try await client.send(call) }
            page.write("\(error.map { "\($0) \($0.request.map { "\($0)" } ?? "")" } ?? "")")
            let built = try client.request(for: call)
            let preview = try await client.preview(call)
            for request in [built, preview] {
                page.write(
                    "\(request)\n\(request.headers)\n\(request.headers.map { "\($0)" })\n\(request.curlCommand())")
                page.write(request.curlCommand(redaction: redaction))
                #expect(request.curlCommand(redaction: .none).contains(Self.canary))
            }
            #expect(client.recordedCalls.last?.request.headers["X-Device"] == nil)
        }
        #expect(!page.text.contains(Self.canary), "\(page.text)")
        #expect(page.text.contains("/v1/botREDACTED/send?appid=REDACTED"))
    }

    @Test("The failure of an attempt and its causes are shown without declared secrets")
    func failures() async throws {
        let page = Page()
        let configuration = APIClient.Configuration(observers: [page], fields: Self.rules)
        let client = APIClient.mock(
            pipeline: .standard.adding(.logging { page.write("\($0)") }), configuration: configuration
        ) {
            $0.onAny { _ in
                throw NetworkError(
                    .badResponse, detail: "at https://h/bothunter2/x?appid=hunter2",
                    underlying: NetworkError(.badResponse, detail: "ssn: hunter2"))
            }
        }
        let error = try #require(
            await #expect(throws: NetworkError.self) { try await client.send(Request<Void>.get("/")) })
        #expect(!"\(error)\(page.text)".contains(Self.canary), "\(error)\(page.text)")
    }

    @Test(
        "A pattern hides the text of its stars, and nothing else",
        arguments: [
            ("/bot*", "/bot12:ab/send", "/botREDACTED/send"), ("/bot*", "/v1/%62ot12/send", "/v1/botREDACTED/send"),
            ("/bot*", "/BOT12/send", "/botREDACTED/send"), ("/bot*", "/robot/x", "/robot/x"), ("/bot*", "/bot", "/bot"),
            ("/hooks/*/x", "/hooks/a/x/hooks/b/x", "/hooks/REDACTED/x/hooks/REDACTED/x"),
            ("/hooks/*/x", "/hooks/a/y", "/hooks/a/y"), ("/services/*/*/*", "/services/a/b", "/services/a/b"),
            ("services/*", "/services/a/b?x=1", "/services/REDACTED/b?x=1"), ("", "/a/b", "/a/b"),
            ("*", "/a", "/REDACTED"),
        ])
    func paths(pattern: String, path: String, expected: String) {
        let redaction = Redaction.standard.adding(Redaction.Rules(secretPaths: [pattern]))
        #expect(redaction.url("https://a.test\(path)") == "https://a.test\(expected)")
        #expect(Redaction.standard.url("https://a.test\(path)") == "https://a.test\(path)")
    }

    @Test("A declared harmless name is shown although it ends like a secret's; a credential is not")
    func harmless() {
        var headers: HTTPHeaders = ["X-Partition-Session": "seven", .authorization: "hunter2"]
        let rules = Redaction.Rules(harmless: ["X-Partition-Session", .authorization])
        DeclaredSecrets(rules).declare(in: &headers)
        let shown = Redaction.standard.adding(rules).headers(headers)
        #expect(headers.description.contains("seven") && !headers.description.contains(Self.canary))
        #expect(shown["X-Partition-Session"] == "seven" && shown[.authorization] == "REDACTED")
        #expect(Redaction.standard.headers(headers)["X-Partition-Session"] == "REDACTED")
    }

    @Test("Declarations add up: a harmless name stays shown unless it is declared secret")
    func addingTwice() {
        let headers: HTTPHeaders = ["X-Partition-Session": "seven", "X-Page-Token": "eight"]
        let first = Redaction.standard.adding(Redaction.Rules(harmless: ["X-Partition-Session", "X-Page-Token"]))
        #expect(first.adding(Redaction.Rules(secret: ["X-Device"])).headers(headers)["X-Partition-Session"] == "seven")
        let second = first.adding(Redaction.Rules(harmless: ["X-Row-Key"], secret: ["X-Page-Token"]))
        #expect(second.headers(headers)["X-Partition-Session"] == "seven")
        #expect(second.headers(headers)["X-Page-Token"] == "REDACTED")
    }
}
