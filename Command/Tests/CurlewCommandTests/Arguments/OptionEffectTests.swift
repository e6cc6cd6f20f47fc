// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting
import Foundation
import Testing

@testable import CurlewCommand

/// Every option of the help has an effect: the same command without it does something else, as far as can be seen in a
/// property that does not change from run to run. What the effect has to be is in the tests of the commands.
@Suite(.timeLimit(.minutes(2)))
struct OptionEffectTests {
    /// What can be seen of a run.
    struct Sight: Sendable {
        let run: Run
        let requests: [RecordedRequest]
        let folder: TemporaryFolder

        var last: RecordedRequest? { requests.last }
        var files: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted() }
    }

    struct Witness: Sendable {
        let words: [String]
        let option: [String]
        var isTerminal = true
        var input: [String] = []
        var files: [String: String] = [:]
        let property: @Sendable (Sight) -> String

        init(
            _ words: [String], _ option: [String], terminal: Bool = true, input: [String] = [],
            files: [String: String] = [:], _ property: @escaping @Sendable (Sight) -> String
        ) {
            self.words = words
            self.option = option
            isTerminal = terminal
            self.input = input
            self.files = files
            self.property = property
        }

        func seen(with option: [String]) async throws -> String {
            let server = try MockServer()
            defer { server.stop() }
            OptionEffectTests.addRoutes(to: server)
            let folder = try TemporaryFolder()
            for (name, text) in files { _ = try folder.file(name, text) }
            let all = (words + option).map { word in
                word.replacingOccurrences(of: "URL", with: server.url)
                    .replacingOccurrences(of: "PORT", with: "\(server.port)")
            }
            let lines = input.map { $0.replacingOccurrences(of: "URL", with: server.url) }
            let run = await Run(all, input: lines, terminal: isTerminal, folder: folder.path)
            return property(Sight(run: run, requests: server.requests, folder: folder))
        }
    }

    static func addRoutes(to server: MockServer) {
        server.on(nil, "/a") { _ in .json(text: #"{"a":1}"#) }
        server.on(.get, "/404") { _ in .status(404) }
        server.on(.get, "/to") { _ in .redirect(to: "/a") }
        server.on(.get, "/secret") { _ in MockResponse(headers: ["Set-Cookie": "sid=hunter2"]) }
        server.on(.get, "/slow") { _ in MockResponse.text("late").delayed(by: .seconds(1)) }
        server.on(.get, "/late") { _ in MockResponse.text("late").delayed(by: .milliseconds(40)) }
        server.on(.get, "/e") { request in
            let isFirst = request.headers["Last-Event-ID"] == nil
            return isFirst ? .events([.event("one", id: "1"), .event("two", id: "2")]) : .status(204)
        }
        server.on(.get, "/f") { request in
            let isRange = request.headers.contains(.range)
            return isRange ? .status(416) : MockResponse.text("file").with(headers: ["ETag": "\"1\""])
        }
        server.on(.get, "/digest") { request in
            guard request.headers[.authorization] == nil else { return .text("ok") }
            return MockResponse(status: 401, headers: ["WWW-Authenticate": "Digest realm=\"r\", nonce=\"n\""])
        }
        server.on(nil, "/busy") { request in request.exchangeIndex == 0 ? .status(503) : .text("ok") }
        server.on(nil, "/*") { _ in .text("ok") }
    }

    private static let request = ["URL/a"]
    private static let output: @Sendable (Sight) -> String = { $0.run.output }
    private static let errors: @Sendable (Sight) -> String = { $0.run.error }
    private static let code: @Sendable (Sight) -> String = { "\($0.run.code)" }

    private static let witnesses: [OptionName: Witness] = [
        .json: Witness(request + ["a=b"], ["--json"]) { $0.last?.headers[.accept] ?? "" },
        .form: Witness(request + ["a=b"], ["--form"]) { $0.last?.text ?? "" },
        .multipart: Witness(request + ["a=b"], ["--multipart"]) { sight in
            sight.last?.text.contains("form-data") == true ? "1" : ""
        },
        .raw: Witness(request, ["--raw", "x"]) { $0.last?.text ?? "" },
        .headers: Witness(request, ["--headers"]) { $0.run.output.contains("\"a\"") ? "body" : "" },
        .body: Witness(request, ["--body"]) { $0.run.output.contains("HTTP/") ? "head" : "" },
        .verbose: Witness(request, ["--verbose"]) { $0.run.output.contains("GET") ? "request" : "" },
        .print: Witness(request, ["--print=H"]) { $0.run.output.contains("GET") ? "request" : "" },
        .output: Witness(request, ["--output=x"]) { $0.files.joined() },
        .color: Witness(request, ["--color=never"], output),
        .quiet: Witness(["download", "URL/f"], ["--quiet"]) { $0.run.error.isEmpty ? "" : "progress" },
        .showSecrets: Witness(["URL/secret"], ["--show-secrets"]) { $0.run.output.contains("hunter2") ? "secret" : "" },
        .ignoreStatus: Witness(["URL/404"], ["--ignore-status"], code),
        .offline: Witness(request, ["--offline"]) { "\($0.requests.count)" },
        .curl: Witness(request, ["--curl"]) { "\($0.requests.count)" },
        .timing: Witness(request, ["--timing"]) { $0.run.error.contains("total") ? "table" : "" },
        .explain: Witness(request, ["--explain"]) { $0.run.error.contains("The call begins") ? "sentences" : "" },
        .har: Witness(request, ["--har=x"]) { $0.files.joined() },
        .report: Witness(request, ["--report=x"]) { $0.files.joined() },
        .follow: Witness(["URL/to"], ["--follow"], code),
        .maxTime: Witness(["URL/slow"], ["--max-time=0.2"], code),
        .retry: Witness(["URL/busy"], ["--retry=1"], code),
        .proxy: Witness(["http://h.test/a"], ["--proxy", "URL"], code),
        .auth: Witness(request, ["--auth=a:b"]) { $0.last?.headers[.authorization] ?? "" },
        .authType: Witness(request + ["--auth=a:b"], ["--auth-type=bearer"]) { $0.last?.headers[.authorization] ?? "" },
        .authOrigin: Witness(request + ["--auth=a:b"], ["--auth-origin=http://other.test"]) {
            $0.last?.headers[.authorization] ?? ""
        },
        .session: Witness(["URL/secret"], ["--session=./s"]) { $0.files.joined() },
        .replace: Witness(["download", "URL/f", "-o", "f"], ["--replace"], files: ["f": "old"], code),
        .checksum: Witness(
            ["download", "URL/f"], ["--checksum=sha256:" + String(repeating: "0", count: 64)], code),
        .count: Witness(["events", "URL/e"], ["--count=1"]) { $0.run.output.contains("two") ? "2" : "1" },
        .noReconnect: Witness(["events", "URL/e"], ["--no-reconnect"]) { "\($0.requests.count)" },
        .help: Witness(request, ["--help"], output),
        .version: Witness(request, ["--version"], output),
    ]

    /// The options whose effect needs a server of another kind. Their tests are in `SecureOptionTests`.
    private static let elsewhere: Set<OptionName> = [
        .cacert, .port, .restart,
    ]

    @Test(arguments: OptionName.allCases)
    func anOptionChangesWhatHappens(_ option: OptionName) async throws {
        guard !Self.elsewhere.contains(option) else { return }
        let witness = try #require(Self.witnesses[option], "no test shows the effect of --\(option.rawValue)")
        #expect(try ParsedArguments(witness.words + witness.option).has(option))
        let with = try await witness.seen(with: witness.option)
        let without = try await witness.seen(with: [])
        #expect(with != without, "--\(option.rawValue) has no effect: \(with)")
    }
}
