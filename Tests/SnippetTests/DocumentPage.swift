// SPDX-License-Identifier: MIT

import Foundation

/// A page of the documentation, or the README, and the Swift in it.
struct DocumentPage {
    /// A block of Swift as the page shows it.
    struct Snippet {
        let page: String
        /// The line of its first line of code, counted from one.
        let line: Int
        let text: [String]
        /// Why it has no counterpart, if the page says so; empty where the page owes the reason.
        let exemption: String?
    }

    let name: String
    let snippets: [Snippet]

    /// Reads the blocks between "```swift" and "```". `<!-- not compiled: reason -->` above a block is its exemption.
    init(name: String, text: String) {
        self.name = name
        var snippets: [Snippet] = []
        var block: (language: String, start: Int, lines: [String])?
        var lastLine = ""
        for (index, line) in text.components(separatedBy: "\n").enumerated() {
            let trimmed = line.trimmingCharacters(in: .whitespaces)
            if let open = block {
                if trimmed == "```" {
                    if open.language == "swift" {
                        let exemption = Self.exemption(in: lastLine)
                        snippets.append(Snippet(page: name, line: open.start, text: open.lines, exemption: exemption))
                    }
                    block = nil
                    lastLine = ""
                } else {
                    block?.lines.append(line)
                }
            } else if trimmed.hasPrefix("```") {
                block = (String(trimmed.dropFirst(3)), index + 2, [])
            } else if !trimmed.isEmpty {
                lastLine = trimmed
            }
        }
        self.snippets = snippets
    }

    private static func exemption(in line: String) -> String? {
        let mark = (begin: "<!-- not compiled", end: "-->")
        guard line.hasPrefix(mark.begin), line.hasSuffix(mark.end) else { return nil }
        let reason = line.dropFirst(mark.begin.count).dropLast(mark.end.count)
        return reason.trimmingCharacters(in: CharacterSet(charactersIn: ": "))
    }
}

extension DocumentPage {
    /// The README and every page of the catalogue.
    static func all(in root: URL) throws -> [DocumentPage] {
        let catalogue = root.appendingPathComponent("Documentation/Curlew.docc")
        let paths = try FileManager.default.subpathsOfDirectory(atPath: catalogue.path).filter { $0.hasSuffix(".md") }
        let files = [root.appendingPathComponent("README.md")] + paths.sorted().map(catalogue.appendingPathComponent)
        return try files.map { file in
            DocumentPage(name: file.lastPathComponent, text: try String(contentsOf: file, encoding: .utf8))
        }
    }
}
