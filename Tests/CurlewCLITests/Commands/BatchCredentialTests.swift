// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import CurlewTesting
import Foundation
import TestServers
import Testing

@testable import CurlewCLI

/// A credential is sent to the origin for which it was given, and to no other.
@Suite(.timeLimit(.minutes(1)))
struct BatchCredentialTests {
    private func server() throws -> MockServer {
        let server = try MockServer()
        server.on(nil, "/*") { request in .text(request.headers[.authorization] ?? "none") }
        return server
    }

    private func bodies(_ run: Run) -> [String] {
        run.output.split(separator: "\n").map { line in
            let value = try? FastJSONDecoder().decode(JSONValue.self, from: Data(line.utf8))
            return value?["body"].string ?? value?["message"].string ?? "?"
        }
    }

    @Test func linesCarryTheirOwnCredentials() async throws {
        let (one, two) = (try server(), try server())
        defer {
            one.stop()
            two.stop()
        }
        let lines = """
            {"url":"\(one.url)/a","auth":"u:p"}
            {"url":"\(two.url)/a","auth":"tok","auth_type":"bearer"}
            {"url":"\(one.url)/a"}
            {"url":"\(two.url)/a"}
            {"url":"\(one.url)/a","auth":"nocolon"}
            {"url":"\(one.url)/a","auth":"a:b","auth_type":"digest"}
            {"url":"\(one.url)/a","auth_type":"bearer"}
            {"url":"\(one.url)/a","auth":"a:b","headers":{"Authorization":"x"}}
            {"url":"\(one.url)/a","auht":"a:b"}
            {"url":"\(one.url)/a","headers":"x"}
            {"url":"\(one.url)/a","auth":"a:b\\nc"}
            """
        let run = await Run("batch", input: [lines])
        let seen = bodies(run)
        try #require(seen.count == 11, "\(run.output)")
        #expect(Array(seen[..<4]) == ["Basic dTpw", "Bearer tok", "none", "none"])
        for message in seen[4...] {
            #expect(
                message.contains("member") || message.contains("control") || message.contains("needs"), "\(message)")
        }
        #expect(one.requestCount == 2 && two.requestCount == 2)
    }

    @Test func aFirstLineThatIsNotValidDoesNotStopTheOthers() async throws {
        let one = try server()
        defer { one.stop() }
        let lines = ["nonsense", "{\"url\":\"http://u:hunter2@h.example/\"}", "{\"url\":\"http://[x\"}"]
        let run = await Run(["batch", "-a", "u:p"], input: (lines + ["{\"url\":\"\(one.url)/a\"}"]).map { $0 + "\n" })
        #expect(
            run.code == 1 && bodies(run).last == "Basic dTpw" && bodies(run).count == 4, "\(run.output) \(run.error)")
        #expect(!(run.output + run.error).contains("hunter2"))
    }

    @Test func aBatchWithoutAUsableURLKeepsNoCredential() async throws {
        let folder = try TemporaryFolder()
        let run = await Run(
            ["batch", "-a", "u:hunter2", "--session", "./s"], input: ["nonsense\n"], folder: folder.path)
        #expect(run.code == 1, "\(run.error)")
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            let text = try? String(contentsOfFile: folder.path + "/" + name, encoding: .utf8)
            #expect(text?.contains("hunter2") != true && text?.contains("localhost") != true, "\(name)")
        }
    }

    @Test func theOptionNamesItsOrigins() async throws {
        let (one, two) = (try server(), try server())
        defer {
            one.stop()
            two.stop()
        }
        let lines = [one, two, one].map { "{\"url\":\"\($0.url)/a\"}\n" }
        #expect(bodies(await Run(["batch", "-a", "u:p"], input: lines)) == ["Basic dTpw", "none", "Basic dTpw"])
        let second = ["batch", "-a", "u:p", "--auth-origin", two.url]
        #expect(bodies(await Run(second, input: lines)) == ["none", "Basic dTpw", "none"])
        let both = second + ["--auth-origin", one.url + "/any/path"]
        #expect(bodies(await Run(both, input: lines)) == Array(repeating: "Basic dTpw", count: 3))
        let own = lines + ["{\"url\":\"\(one.url)/a\",\"auth\":\"x:y\"}"]
        #expect(bodies(await Run(both, input: own)).last == "Basic eDp5")
        #expect(await Run(one.url, "--auth-origin", two.url).code == 2)
    }

    @Test func aSessionHasACredentialForEachOrigin() async throws {
        let (one, two) = (try server(), try server())
        defer {
            one.stop()
            two.stop()
        }
        let folder = try TemporaryFolder()
        let session = ["--session", "./s"]
        #expect(await Run([one.url + "/a", "-a", "u:p"] + session, folder: folder.path).output == "Basic dTpw")
        #expect(await Run([two.url + "/a"] + session, folder: folder.path).output == "none")
        #expect(await Run([two.url + "/a", "-a", "x:y"] + session, folder: folder.path).output == "Basic eDp5")
        let lines = [two, one].map { "{\"url\":\"\($0.url)/a\"}\n" }
        let run = await Run(["batch"] + session, input: lines, folder: folder.path)
        #expect(bodies(run) == ["Basic eDp5", "Basic dTpw"], "\(run.output) \(run.error)")
    }

    @Test func aRedirectToAnotherOriginReceivesNoCredential() async throws {
        let (one, two) = (try server(), try server())
        defer {
            one.stop()
            two.stop()
        }
        let target = two.url + "/b"
        one.on(.get, "/to") { _ in .redirect(to: target) }
        let line = "{\"url\":\"\(one.url)/to\",\"auth\":\"u:p\"}"
        #expect(bodies(await Run("batch", "--follow", input: [line])) == ["none"])
        #expect(one.requests.last?.headers[.authorization] == "Basic dTpw")
        #expect(await Run(one.url + "/to", "--follow", "-a", "u:p").output == "none")
        let named = ["--follow", "-a", "u:p", "--auth-origin", one.url, "--auth-origin", two.url]
        // A redirect chose the second origin, not the user, so --auth-origin does not apply.
        #expect(await Run([one.url + "/to"] + named).output == "none")
    }
}
