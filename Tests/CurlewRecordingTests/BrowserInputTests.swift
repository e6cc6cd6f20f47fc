// SPDX-License-Identifier: MIT

import TestServers
import Testing

@testable import CurlewRecording

/// The keyboard and the filters of a page, in a real browser. A script that the test adds to the page acts as its user.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct BrowserInputTests {
    /// Calls 1 to 5: two with status 200 (one of them a retry after 503), a redirect, a 404, and one without a response.
    private static var document: HARDocument {
        func entry(
            _ call: UInt64, _ request: Int, _ path: String, _ status: Int, _ route: String, error: String? = nil,
            failed: Bool = false, decision: HARDocument.Decision? = nil
        ) -> HARDocument.Entry {
            var facts = HARDocument.Facts(
                call: call, route: route, attempt: request, hop: 0, request: request, start: Double(request - 1) * 20)
            facts.callTime = 50
            facts.outcome = failed ? "it failed" : "\(status)"
            facts.failed = failed
            facts.decisions = decision.map { [$0] }
            return HARDocument.Entry(
                startedDateTime: Date(timeIntervalSince1970: 1_795_600_000 + Double(call) * 10 + Double(request) / 10),
                request: .init(method: "GET", url: "https://a.test" + path),
                response: .init(
                    status: status, content: .init(size: 7, mimeType: "application/json", text: #"{"a":1}"#),
                    error: error),
                timings: .init(send: 0, wait: 10, receive: 5), facts: facts)
        }
        return HARDocument(entries: [
            entry(1, 1, "/users/1", 200, "GetUser"),
            entry(
                2, 1, "/orders", 503, "ListOrders", decision: .init(time: 9, name: "attempt", text: "retried in 10 ms")),
            entry(2, 2, "/orders", 200, "ListOrders"),
            entry(3, 1, "/old", 301, "GetUser"),
            entry(4, 1, "/users/404", 404, "GetUser", failed: true),
            entry(5, 1, "/lost", 0, "Health", error: "unreachable", failed: true),
        ])
    }

    /// The part of every script that helps it to act, and to write down what it sees.
    private static let helpers = """
        const seen = [];
        const note = (name, value) => seen.push(name + "=" + value);
        const press = (key, target) => (target || document.activeElement).dispatchEvent(
          new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
        const count = () => document.querySelectorAll(".row").length;
        const text = (id) => document.getElementById(id).textContent;

        """

    /// Loads the page, lets `script` act, and returns what it has noted. Nil without a browser.
    private func play(_ script: String, on document: HARDocument = document) async throws -> [String: String]? {
        guard let browser = BrowserTests.browser else {
            print("Not tried: there is no browser. On Debian, install chromium.")
            return nil
        }
        // The policy of the page admits its own script only, so the test adds the digest of its script.
        let digest = Data(MessageDigest.sha256(Data(Self.wrapped(script).utf8))).base64EncodedString()
        let admitted = HTMLReport(document).text
            .replacingOccurrences(of: "script-src 'sha256-", with: "script-src 'sha256-\(digest)' 'sha256-")
        let text = admitted.replacingOccurrences(
            of: "</body>", with: "<script>\(Self.wrapped(script))</script></body>")
        let folder = try TemporaryFolder()
        let file = try folder.file("page.html", text)
        let arguments = [
            "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            "--user-data-dir=\(folder.path)/profile", "--window-size=1440,900", "--virtual-time-budget=3000",
            "--dump-dom", "file://\(file)",
        ]
        let dom = try await onThread {
            String(
                decoding: try Program.run("/bin/sh", ["-c", "\"$0\" \"$@\" 2>/dev/null", browser] + arguments),
                as: UTF8.self)
        }
        let start = try #require(dom.range(of: "<pre id=\"seen\">"), "the script did not end: \(dom.suffix(500))")
        let end = try #require(dom.range(of: "</pre>", range: start.upperBound..<dom.endIndex))
        let lines = dom[start.upperBound..<end.lowerBound].split(separator: "\n")
        return Dictionary(
            lines.map { line in
                let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
                return (parts[0], parts.count > 1 ? parts[1] : "")
            }, uniquingKeysWith: { $1 })
    }

    private static func wrapped(_ script: String) -> String {
        """
        window.addEventListener("error", (event) => { document.body.append("ERROR " + event.message); });
        setTimeout(() => { \(helpers) try { \(script) } catch (error) { note("error", error); }
          const pre = document.createElement("pre"); pre.id = "seen"; pre.textContent = seen.join("\\n");
          document.body.append(pre); }, 200);
        """
    }

    @Test("Hostile data breaks neither the details nor the command")
    func hostile() async throws {
        var document = Self.document
        document.entries[0].facts?.decisions = [
            .init(time: 1, name: "constructor", text: ""), .init(time: 2, name: "__proto__.x", text: "kept"),
            .init(time: 3, name: "", text: "lower"),
        ]
        document.entries[1].response.content.text =
            String(repeating: "[", count: 40_000) + String(repeating: "]", count: 40_000)
        document.entries[3].request.url = "-o/tmp/owned"
        document.entries[4].request.url = "file:///etc/passwd"
        document.entries[4].request.headers = [.init(name: "X", value: "y")]
        document.entries[5].request.headers = [.init(name: "@/etc/passwd", value: "")]
        document.entries[5].startedDateTime = Date(timeIntervalSince1970: -1e11)
        let script = """
            let details = "";
            for (let i = 0; i < 7; i += 1) { press(i ? "ArrowDown" : "Home"); details += "\\n" + text("details"); }
            note("length", details.length < 1000000);
            note("native", details.includes("native code"));
            note("kept", details.includes("Kept") || details.includes("kept"));
            note("commands", (details.match(/No command/g) || []).length);
            note("option", details.includes("'-o/tmp/owned'\\n") || details.includes("curl '-o"));
            note("rows", count());
            """
        guard let seen = try await play(script, on: document) else { return }
        #expect(seen["error"] == nil && seen["length"] == "true" && seen["native"] == "false", "\(seen)")
        #expect(seen["kept"] == "true" && seen["commands"] == "3" && seen["option"] == "false", "\(seen)")
    }
}
