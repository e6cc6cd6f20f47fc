// SPDX-License-Identifier: MIT

import Foundation
import Testing

/// What the README and the articles show is compiled: each block of Swift stands in a file of `FirstWeek`,
/// `Snippets` or `Migration`.
@Suite(.timeLimit(.minutes(1)))
struct DocumentationTests {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    @Test func everySnippetIsCompiled() throws {
        let files = try CompiledFile.all(in: Self.root)
        let pages = try DocumentPage.all(in: Self.root)
        let snippets = pages.flatMap(\.snippets).filter { $0.exemption == nil }
        // A reader of pages that reads nothing would find nothing wrong.
        try #require(pages.count > 20 && snippets.count > 50 && !files.isEmpty)
        for snippet in snippets {
            if let problem = Self.problem(with: snippet, in: files) { Issue.record(Comment(rawValue: problem)) }
        }
    }

    @Test func whatIsNotCompiledSaysWhy() throws {
        let files = try CompiledFile.all(in: Self.root)
        for snippet in try DocumentPage.all(in: Self.root).flatMap(\.snippets) {
            guard let reason = snippet.exemption else { continue }
            print("not compiled: \(snippet.page):\(snippet.line), because: \(reason)")
            #expect(reason.count > 10, "\(snippet.page):\(snippet.line) owes a reason")
            #expect(
                Self.problem(with: snippet, in: files) != nil,
                "\(snippet.page):\(snippet.line) is compiled: take the mark away")
        }
    }

    @Test func nothingIsLeftOutOfTheCompilation() throws {
        for file in try CompiledFile.all(in: Self.root) {
            #expect(file.conditions.isEmpty, "\(file.name) has code that may not be compiled")
        }
    }

    /// A newcomer's first typed call is on top of both pages, in at most ten lines.
    @Test(arguments: ["README.md", "GettingStarted.md"])
    func theFirstCallIsShort(_ name: String) throws {
        let page = try #require(try DocumentPage.all(in: Self.root).first { $0.name == name })
        let first = try #require(page.snippets.first { $0.exemption == nil })
        #expect(first.text.filter { !$0.isEmpty }.count <= 10)
        #expect(first.text.contains { $0.contains("client.send(") })
    }

    /// Paths in texts outlive the files that they name, unless a test checks them.
    @Test func pathsLeadSomewhere() throws {
        let folder = Self.root.appendingPathComponent("Documentation")
        let pages = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".md") }
        let top = ["README.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md"]
        let path = /`((?:Benchmarks|Documentation|Examples|Scripts|Sources|Tests)\/[\w.\/+-]*)[^`]*`/
        var count = 0
        for name in top + pages.map({ "Documentation/\($0)" }) {
            let text = try String(contentsOf: Self.root.appendingPathComponent(name), encoding: .utf8)
            for match in text.matches(of: path) {
                let file = Self.root.appendingPathComponent(String(match.1)).path
                #expect(FileManager.default.fileExists(atPath: file), "\(name) names \(match.1)")
                count += 1
            }
        }
        #expect(count > 30)
    }

    @Test func theReadmeStaysShort() throws {
        let text = try String(contentsOf: Self.root.appendingPathComponent("README.md"), encoding: .utf8)
        #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count <= 131)
    }

    /// What to tell about a snippet without a counterpart: where it is, and how far the closest file agrees.
    static func problem(with snippet: DocumentPage.Snippet, in files: [CompiledFile]) -> String? {
        var closest: (at: Int, matched: Int, instead: String)?
        for file in files {
            guard case .differs(let at, let matched, let instead) = file.find(snippet.text) else { return nil }
            if matched > closest?.matched ?? -1 { closest = (at, matched, instead) }
        }
        guard let closest else { return "\(snippet.page):\(snippet.line): there are no snippets" }
        let line = closest.at < snippet.text.count ? snippet.text[closest.at] : ""
        return """
            \(snippet.page):\(snippet.line + closest.at): no compiled file has this line where it belongs
                page:    \(line.trimmingCharacters(in: .whitespaces))
                nearest: \(closest.instead)
            """
    }
}
