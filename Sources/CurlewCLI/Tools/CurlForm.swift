// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import CurlewTransfers

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The argument of `--form` of curl: `name=text`, `name=@file` or `name=<file`, and `;type=…;filename=…` after it.
struct CurlForm: Sendable {
    enum Content: Sendable {
        case text(String)
        /// The file is an upload with a file name.
        case upload(path: String)
        /// The part is the text of the file.
        case textOfFile(path: String)
    }

    let name: String
    let content: Content
    private(set) var type: MediaType?
    private(set) var fileName: String?

    /// - `isLiteral`: the argument of `--form-string`, in which no character is special.
    init(_ argument: String, isLiteral: Bool) throws(UsageError) {
        let pair = argument.parts("=", most: 2, keepingEmpty: true)
        guard pair.count == 2, let name = pair.first, !name.isEmpty else {
            throw UsageError("--form of curl needs name=value.")
        }
        self.name = String(name)
        guard !isLiteral else {
            content = .text(String(pair[1]))
            return
        }
        var rest = pair[1].unicodeScalars[...]
        let mark = rest.first
        if mark == "@" || mark == "<" { rest = rest.dropFirst() }
        let word = try Self.word(&rest, argument)
        content =
            switch mark {
            case "@": .upload(path: word)
            case "<": .textOfFile(path: word)
            default: .text(word)
            }
        guard mark != "@" || !word.holds(",") else {
            throw UsageError("--form of curl with several files is not supported.", "Give one --form per file.")
        }
        try readParameters(&rest, argument)
    }

    private mutating func readParameters(_ rest: inout Substring.UnicodeScalarView, _ argument: String)
        throws(UsageError)
    {
        var typeText: String?
        while rest.popFirst() != nil {
            let parameter = try Self.word(&rest, argument, keepsQuotes: true)
            let text = String(parameter.trimmed())
            if text.begins(with: "type=") {
                typeText = String(text.dropFirst("type=".count))
            } else if text.begins(with: "filename=") {
                var quoted = text.dropFirst("filename=".count).unicodeScalars[...]
                fileName = try Self.word(&quoted, argument)
            } else if let type = typeText, text.begins(with: "charset=") || text.begins(with: "boundary=") {
                typeText = type + ";" + text
            } else {
                throw UsageError(
                    "\"\(text)\" in --form of curl is not supported.",
                    "A value with a semicolon is written in double quotes: 'name=\"a;b\"'.")
            }
        }
        guard let typeText else { return }
        type = MediaType(typeText)
        guard type != nil else { throw UsageError("\"\(typeText)\" is not a media type.") }
    }

    /// Reads a word up to a semicolon, or in double quotes, in which a backslash escapes.
    private static func word(
        _ rest: inout Substring.UnicodeScalarView, _ argument: String, keepsQuotes: Bool = false
    ) throws(UsageError) -> String {
        var result = String.UnicodeScalarView()
        var isQuoted = false
        if rest.first == "\"", !keepsQuotes {
            isQuoted = true
            rest = rest.dropFirst()
        }
        var isInside = false
        while let scalar = rest.first {
            if isQuoted {
                rest = rest.dropFirst()
                if scalar == "\"" {
                    isQuoted = false
                    rest = rest.drop { $0 != ";" }
                    return String(result)
                }
                if scalar == "\\", let next = rest.first, next == "\\" || next == "\"" {
                    rest = rest.dropFirst()
                    result.append(next)
                    continue
                }
            } else {
                if keepsQuotes, scalar == "\"" { isInside.toggle() }
                if scalar == ";", !isInside { break }
                rest = rest.dropFirst()
            }
            result.append(scalar)
        }
        guard !isQuoted else { throw UsageError("A quote is not closed in \"\(argument)\".") }
        return String(result)
    }

    func part(_ io: CommandIO) throws -> MultipartForm.Part {
        switch content {
        case .upload(let path): return .file(name, path: io.path(path), fileName: fileName, type: type)
        case .textOfFile(let path):
            let data = try io.contents(of: path, limit: RequestPlan.valueLimit)
            return part(.data(data, type: type ?? .text), text: String(decoding: data, as: UTF8.self))
        case .text(let text): return part(.text(text, type: type ?? .text), text: text)
        }
    }

    private func part(_ content: RequestContent, text: String) -> MultipartForm.Part {
        type == nil && fileName == nil ? .field(name, text) : .part(name, content, fileName: fileName)
    }

    /// The item of `curlew`; nil if there is none that means the same.
    var item: String? {
        switch content {
        case .upload(let path) where fileName == nil:
            RequestItem.written(name, "@", path + (type.map { ";type=\($0)" } ?? ""))
        case .textOfFile(let path) where type == nil && fileName == nil: RequestItem.written(name, "=", "") + "@" + path
        case .text(let text) where type == nil && fileName == nil: RequestItem.written(name, "=", text)
        default: nil
        }
    }
}
