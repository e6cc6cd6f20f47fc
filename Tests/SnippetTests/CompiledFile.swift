// SPDX-License-Identifier: MIT

import Foundation

/// A source file of this target, in which snippets are looked for.
struct CompiledFile {
    /// Where a snippet ends, or where it came closest.
    enum Result: Equatable {
        case found
        /// The line of the snippet (from zero) that has no counterpart, and what stands in the file instead.
        case differs(at: Int, matched: Int, instead: String)
    }

    let name: String
    private let lines: [Line]

    init(name: String, text: String) {
        self.name = name
        lines = text.components(separatedBy: "\n").map(Line.init)
    }

    /// Whether the snippet stands here line for line. Indentation may be shifted, comments at the end of a line may be
    /// aligned, and a page, which is narrower, may break a line. Paragraphs, between blank lines, may stand apart but
    /// keep their order: declarations and the calls that use them share a block of a page, and cannot share a scope.
    func find(_ snippet: [String]) -> Result {
        var from = 0
        var matched = 0
        for paragraph in Self.paragraphs(of: snippet.map(Line.init)) {
            var closest = (count: -1, end: from)
            var place: Int?
            for start in from..<max(from, lines.count) where place == nil {
                let (count, end) = common(paragraph.lines, at: start)
                if count == paragraph.lines.count { place = end }
                if count > closest.count { closest = (count, end) }
            }
            guard let place else {
                let count = max(closest.count, 0)
                let text = closest.end < lines.count ? lines[closest.end].text : ""
                return .differs(
                    at: paragraph.start + count, matched: matched + count,
                    instead: "\(name):\(closest.end + 1): \(text)")
            }
            matched += paragraph.lines.count
            from = place
        }
        return .found
    }

    /// How many lines of a paragraph stand at `start`, all shifted by the same indentation, and the line after them.
    private func common(_ paragraph: ArraySlice<Line>, at start: Int) -> (count: Int, end: Int) {
        guard let first = paragraph.first else { return (0, start) }
        let shift = lines[start].indentation - first.indentation
        var (end, left) = (start, paragraph)
        while end < lines.count, let head = left.first {
            let line = lines[end]
            guard head.indentation + shift == line.indentation, line.text.hasPrefix(head.text) else { break }
            var count = 1
            if head.text != line.text {
                var code = head.code
                for piece in left.dropFirst() where code.utf8.count < line.code.utf8.count {
                    (code, count) = (code + piece.code, count + 1)
                }
                guard code == line.code else { break }
            }
            left = left.dropFirst(count)
            end += 1
        }
        return (paragraph.count - left.count, end)
    }

    private static func paragraphs(of lines: [Line]) -> [(start: Int, lines: ArraySlice<Line>)] {
        lines.indices.split { lines[$0].text.isEmpty }.compactMap { part in
            part.first.map { ($0, lines[part.startIndex..<part.endIndex]) }
        }
    }
}

/// A line without what pages and files may do differently.
private struct Line {
    let indentation: Int
    let text: String
    /// The text without blanks, which a break replaces.
    var code: String { text.filter { $0 != " " } }

    init(_ line: String) {
        let trimmed = line.trimmingCharacters(in: .whitespaces)
        indentation = line.prefix { $0 == " " }.count
        // Comments at the end of a line may be aligned.
        guard let comment = trimmed.range(of: "  //") else {
            text = trimmed
            return
        }
        let code = trimmed[..<comment.lowerBound].trimmingCharacters(in: .whitespaces)
        let tail = trimmed[comment.lowerBound...].trimmingCharacters(in: .whitespaces)
        text = code.isEmpty ? tail : "\(code) \(tail)"
    }
}

extension CompiledFile {
    /// The files in the folders of this target; beside the folders stand the tests of the test.
    static func all(in root: URL) throws -> [CompiledFile] {
        let target = root.appendingPathComponent("Tests/SnippetTests")
        let paths = try FileManager.default.subpathsOfDirectory(atPath: target.path)
        return try paths.filter { $0.contains("/") && $0.hasSuffix(".swift") }.sorted().map { path in
            let text = try String(contentsOf: target.appendingPathComponent(path), encoding: .utf8)
            return CompiledFile(name: path, text: text)
        }
    }

    /// Lines that the compiler may leave out, so that a snippet could be in code that is not compiled.
    var conditions: [String] {
        lines.map(\.text).filter { $0.hasPrefix("#if") && $0 != "#if os(Linux)" || $0.hasPrefix("/*") }
    }
}
