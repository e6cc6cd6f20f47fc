// SPDX-License-Identifier: MIT

import TestServers
import Testing

@testable import CurlewCore
@testable import CurlewRecording

/// The pages in a real browser, where there is one: `chromium` or `google-chrome`.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct BrowserTests {
    static let browser = ["chromium", "google-chrome", "chromium-browser"].lazy
        .compactMap { try? Program.path($0) }.first

    /// Loads the page without a window, and returns its elements and the messages of its console. Nil without a
    /// browser.
    private func load(_ page: String, _ fragment: String = "", _ options: [String] = []) async throws -> (
        dom: String, console: [String], time: Duration
    )? {
        guard let browser = Self.browser else {
            print("Not tried: there is no browser. On Debian, install chromium.")
            return nil
        }
        let folder = try TemporaryFolder()
        let file = try folder.file("page.html", page)
        let log = folder.path + "/log"
        let arguments =
            [
                "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                "--user-data-dir=\(folder.path)/profile", "--enable-logging=stderr", "--log-level=0",
                "--window-size=1440,900", "--virtual-time-budget=2000",
            ] + options + (options.isEmpty ? ["--dump-dom"] : []) + ["file://\(file)\(fragment)"]
        let command = "\"$0\" \"$@\" 2>'\(log)'"
        let start = ContinuousClock.now
        let dom = try await onThread {
            String(decoding: try Program.run("/bin/sh", ["-c", command, browser] + arguments), as: UTF8.self)
        }
        let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").map(String.init)
        return (dom, lines.filter { $0.contains("CONSOLE") }, ContinuousClock.now - start)
    }

    @Test("Hostile text in every field is shown as text, and does not run")
    func hostile() async throws {
        let page = HTMLReport(HTMLReportTests.hostileDocument, title: "Safe").text
        guard let (dom, console, _) = try await load(page, "#row-1") else { return }
        #expect(console.isEmpty, "\(console)")
        #expect(dom.contains("<title>Safe</title>") && dom.contains(#"<h1 id="title">Safe</h1>"#))
        #expect(dom.contains("&lt;/script&gt;&lt;script&gt;document.title"))
        #expect(!dom.contains("<img"))
        #expect(dom.contains("curl command") && dom.contains("What happened, and why"))
        #expect(dom.contains(#"\u{202E}"#), "marks of direction are shown by their numbers")
    }

    @Test("5,000 exchanges open with the visible rows only, without a message on the console")
    func large() async throws {
        let document = SampleRecording.document(calls: 4500, bodyLength: 300)
        let page = HTMLReport(document).text
        guard let (dom, console, time) = try await load(page, "#row-1") else { return }
        #expect(console.isEmpty, "\(console)")
        let rows = dom.components(separatedBy: #"class="row"#).count - 1
        #expect((20...80).contains(rows), "\(rows)")
        #expect(
            dom.contains(
                "4,500 calls · \(document.entries.count.formatted(.number.locale(Locale(identifier: "en")))) requests"))
        print("A browser started, opened \(document.entries.count) exchanges and ended in \(time.brief)")
    }

    @Test("The page and Swift make the same curl command")
    func commands() async throws {
        var entry = SampleRecording.document(calls: 1).entries[0]
        entry.request = .init(
            method: "POST", url: "https://a.test/x?q=it's",
            headers: [.init(name: "X-Empty", value: ""), .init(name: "X-Quote", value: "it's \u{1F426} \u{202E}")],
            postData: .init(mimeType: "application/json", text: "{\"a\":\n\"it's !\t^\"}"), bodySize: 20)
        entry.request.headers.append(.init(name: "Content-Type", value: "application/json"))
        let command = entry.curlCommand(redaction: .none)
        let page = HTMLReport(HARDocument(entries: [entry])).text
        guard let (dom, _, _) = try await load(page, "#row-1") else { return }
        let shown = command.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
            .replacingOccurrences(of: ">", with: "&gt;")
        let isShown = dom.contains("<pre>\(shown)</pre>")
        #expect(isShown, "\(command)")
    }
}
