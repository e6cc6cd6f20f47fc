// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting
import Foundation
import Testing

@testable import CurlewCommand

/// HAR files of browsers, with secrets in unusual places, and hostile ones.
@Suite(.timeLimit(.minutes(1)))
struct HARCommandTests {
    private func document(size: String = "2", url: String = "https://h.example/a?token=hunter2") -> Data {
        let entry = """
            {"startedDateTime":"2026-01-01T00:00:00.000Z","time":12,"comment":"Cookie: sid=hunter2","request":{"method":
            "GET","url":"\(url)","httpVersion":"h2","headers":[{"name":":path","value":"/a?token=hunter2"},{"name":
            "referer","value":"https://h.example/x?token=hunter2"}],"cookies":[{"name":"sid","value":"hunter2"}],
            "queryString":[{"name":"token","value":"hunter2"}],"headersSize":-1,"bodySize":-1,"postData":{"mimeType":
            "application/x-www-form-urlencoded","text":"password=hunter2","params":[{"name":"password","value":
            "hunter2"}]}},"response":{"status":302,"statusText":"","httpVersion":"h2","headers":[{"name":"Location",
            "value":"/b?token=hunter2"}],"cookies":[],"content":{"size":\(size),"mimeType":"text/html","text":
            "<input name=csrf_token value=hunter2>"},"redirectURL":"/b?token=hunter2","headersSize":-1,"bodySize":-1,
            "_error":"https://h.example/?token=hunter2 failed"},"cache":{},"timings":{"send":0,"wait":1,"receive":1}}
            """
        return Data(
            """
            {"log":{"version":"1.2","creator":{"name":"x","version":"1"},"pages":[{"startedDateTime":
            "2026-01-01T00:00:00.000Z","id":"p","title":"\(url)","pageTimings":{}}],"entries":[\(entry),\(entry)]}}
            """.utf8)
    }

    @Test func everyActionHidesSecrets() async throws {
        let folder = try TemporaryFolder()
        _ = try folder.file("a.har", document())
        _ = try folder.file("b.har", document(url: "https://me:hunter2@h.example/a"))
        for words in [
            ["redact", "a.har"], ["report", "a.har"], ["curl", "a.har"], ["redact", "b.har"], ["report", "b.har"],
            ["curl", "b.har"],
        ] {
            let run = await Run(["har"] + words, folder: folder.path)
            #expect(run.code == 0 && !run.output.isEmpty, "\(words): \(run.error)")
            #expect(!(run.output + run.error).contains("hunter2"), "\(words): \(run.output)")
        }
        let shown = await Run("har", "report", "a.har", "--show-secrets", folder: folder.path)
        #expect(shown.output.contains("hunter2"))
    }

    @Test func hostileTextCannotReachTheTerminal() async throws {
        let folder = try TemporaryFolder()
        let hostile = "\u{9B}31m\u{202E}"
        _ = try folder.file("a.har", document(url: "https://h.example/" + hostile))
        for action in HARCommand.actions {
            let run = await Run(
                ["har", action, "a.har"], terminal: true, environment: ["NO_COLOR": "1"], folder: folder.path)
            #expect(run.code == 0, "\(run.error)")
            #expect(!run.output.unicodeScalars.contains(where: SafeText.isActive), "\(action)")
        }
        let redacted = await Run("har", "redact", "a.har", terminal: true, folder: folder.path)
        #expect(redacted.json["log"]["entries"][0]["request"]["url"].string?.contains(hostile) == true)
    }
}
