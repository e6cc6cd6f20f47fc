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
        const set = (id, value) => {
          const field = document.getElementById(id);
          if (typeof value === "boolean") field.checked = value; else field.value = value;
          field.dispatchEvent(new Event("input", { bubbles: true }));
        };
        const row = () => { const e = document.querySelector(".row[aria-selected=true]");
          return e ? e.getAttribute("aria-posinset") + ":" + e.querySelector(".status").textContent : "none"; };
        const count = () => document.querySelectorAll(".row").length;
        const open = () => !document.getElementById("details").hidden;
        const active = () => document.activeElement.id || document.activeElement.tagName;
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

    @Test("Arrow keys, Home, End and Page keys move the selection, and show its details")
    func moving() async throws {
        let script = """
            note("start", active() + " " + row() + " " + open());
            press("ArrowDown"); note("down", row() + " " + open());
            press("ArrowDown"); press("ArrowDown"); note("down3", row());
            press("ArrowUp"); note("up", row());
            press("End"); note("end", row()); press("ArrowDown"); note("after", row());
            press("Home"); note("home", row()); press("ArrowUp"); note("before", row());
            press("PageDown"); note("page", row()); press("PageUp"); note("back", row());
            press("Enter"); note("enter", active());
            note("descendant", document.getElementById("list").getAttribute("aria-activedescendant"));
            press("Escape"); note("escape", active() + " " + open());
            press("Escape"); note("again", active() + " " + open());
            """
        guard let seen = try await play(script) else { return }
        // Call 2 has a row of its own, and one for each of its requests.
        #expect(seen["start"] == "list none false", "\(seen)")
        #expect(seen["down"] == "1:200 true" && seen["down3"] == "3:503" && seen["up"] == "2:200", "\(seen)")
        #expect(seen["end"] == "7:failed" && seen["after"] == "7:failed", "\(seen)")
        #expect(seen["home"] == "1:200" && seen["before"] == "1:200", "\(seen)")
        #expect(seen["page"] == "7:failed" && seen["back"] == "1:200", "\(seen)")
        #expect(seen["enter"] == "details" && seen["descendant"] == "row0", "\(seen)")
        // The first Escape leaves the details, the second one closes them.
        #expect(seen["escape"] == "list true" && seen["again"] == "list false" && seen["error"] == nil, "\(seen)")
    }

    @Test("Filters show calls by status, route, failure and words; Escape empties the search")
    func filters() async throws {
        let script = """
            note("all", count());
            for (const status of ["1", "2", "3", "4", "5", "0", ""]) { set("status", status); note("s" + status, count()); }
            for (const route of ["GetUser", "Health", ""]) { set("route", route); note("r" + route, count()); }
            set("failures", true); note("failures", count()); set("route", "GetUser"); note("both", count());
            set("route", ""); set("failures", false); note("none", count());
            press("/"); note("slash", active());
            set("text", "retried"); note("reason", count()); set("text", "USERS 404"); note("words", count());
            set("text", "nothing"); note("empty", count() + " " + document.getElementById("none").hidden);
            note("summary", text("summary"));
            press("Escape"); note("cleared", count() + " " + active() + " " + document.getElementById("text").value.length);
            set("axis", "all"); note("axis", count());
            """
        guard let seen = try await play(script) else { return }
        #expect(seen["all"] == "7" && seen["s2"] == "4" && seen["s3"] == "1" && seen["s4"] == "1", "\(seen)")
        #expect(seen["s5"] == "3" && seen["s0"] == "1" && seen["s1"] == "0" && seen["s"] == "7", "\(seen)")
        #expect(seen["rGetUser"] == "3" && seen["rHealth"] == "1" && seen["r"] == "7", "\(seen)")
        #expect(seen["failures"] == "2" && seen["both"] == "1" && seen["none"] == "7", "\(seen)")
        #expect(seen["slash"] == "text" && seen["reason"] == "3" && seen["words"] == "1", "\(seen)")
        #expect(seen["empty"] == "0 false" && seen["summary"]?.hasPrefix("0 calls shown of 5 calls") == true, "\(seen)")
        #expect(seen["cleared"] == "7 list 0" && seen["axis"] == "7" && seen["error"] == nil, "\(seen)")
    }

    @Test("The selection survives a filter that keeps it, and the details close with another one")
    func selection() async throws {
        let script = """
            press("End"); set("failures", true); note("kept", row() + " " + open());
            set("status", "4"); note("gone", row() + " " + open());
            set("status", ""); set("failures", false);
            document.querySelectorAll(".row")[1].click(); note("click", row() + " " + text("details").includes("What happened"));
            press("/", document.getElementById("list")); press("/", document.getElementById("text"));
            note("slash", active());
            """
        guard let seen = try await play(script) else { return }
        #expect(seen["kept"] == "2:failed true" && seen["gone"] == "none false", "\(seen)")
        #expect(seen["click"] == "2:200 true" && seen["slash"] == "text" && seen["error"] == nil, "\(seen)")
    }

    @Test("Times and sizes are rounded to the unit that they have after rounding")
    func numbers() async throws {
        let script = """
            const times = [0, 0.5, 0.9996, 9.96, 999.4, 999.6, 9996, 59940, 59960, 60000, 119700, 3599999];
            note("times", times.map(duration).join("|"));
            note("sizes", [999, 999499, 999600, 9960000, 1e9].map(size).join("|"));
            """
        guard let seen = try await play(script) else { return }
        #expect(
            seen["times"]
                == "0|500 µs|1.0 ms|10 ms|999 ms|1.00 s|10.0 s|59.9 s|1 min 0 s|1 min 0 s|2 min 0 s|60 min 0 s",
            "\(seen)")
        #expect(seen["sizes"] == "999 B|999 kB|1.0 MB|10 MB|1.0 GB", "\(seen)")
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
