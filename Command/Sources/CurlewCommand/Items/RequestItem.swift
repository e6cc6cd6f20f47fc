// SPDX-License-Identifier: MIT

/// One item of the command line, which describes a part of the request.
enum RequestItem: Hashable, Sendable {
    case header(name: String, value: String)
    case removedHeader(name: String)
    case emptyHeader(name: String)
    case query(name: String, value: String)
    case text(name: String, value: String)
    case json(name: String, value: String)
    case textFile(name: String, path: String)
    case jsonFile(name: String, path: String)
    case file(name: String, path: String)
    /// The body is the content of a file; `-` is the standard input.
    case body(path: String)

    private enum Mark: String, CaseIterable {
        // A longer mark comes before its beginnings.
        case jsonFile = ":=@"
        case textFile = "=@"
        case json = ":="
        case query = "=="
        case text = "="
        case file = "@"
        case header = ":"
        case emptyHeader = ";"
    }

    /// Reads an item. The first mark that no backslash precedes separates the name from the value.
    init(_ argument: String) throws(UsageError) {
        var name = ""
        var rest = argument.unicodeScalars[...]
        while let scalar = rest.first {
            if scalar == "\\", let next = rest.dropFirst().first, "\\=:@;".unicodeScalars.contains(next) {
                name.unicodeScalars.append(next)
                rest = rest.dropFirst(2)
                continue
            }
            let mark = Mark.allCases.first { rest.starts(with: $0.rawValue.unicodeScalars) }
            if let mark, mark != .emptyHeader || rest.count == 1 {
                let value = String(Substring(rest.dropFirst(mark.rawValue.unicodeScalars.count)))
                self = try Self.item(name, mark, value, argument)
                return
            }
            name.unicodeScalars.append(scalar)
            rest = rest.dropFirst()
        }
        throw UsageError(
            "\"\(argument)\" is not an item.",
            "Write name=value, Name:value, name==value, name:=json or name@file. See `curlew help items`.")
    }

    private static func item(
        _ name: String, _ mark: Mark, _ value: String, _ argument: String
    ) throws(UsageError) -> RequestItem {
        guard !name.isEmpty || mark == .file else { throw UsageError("The item \"\(argument)\" has no name.") }
        guard !value.isEmpty || ![.jsonFile, .textFile, .json, .file].contains(mark) else {
            throw UsageError("The item \"\(argument)\" has no value.")
        }
        return switch mark {
        case .jsonFile: .jsonFile(name: name, path: value)
        case .textFile: .textFile(name: name, path: value)
        case .json: .json(name: name, value: value)
        case .query: .query(name: name, value: literal(value))
        case .text: .text(name: name, value: literal(value))
        case .file: name.isEmpty ? .body(path: value) : .file(name: name, path: value)
        case .header: value.isEmpty ? .removedHeader(name: name) : .header(name: name, value: literal(value))
        case .emptyHeader: .emptyHeader(name: name)
        }
    }

    /// In a value, a backslash before `@` or `=` at the beginning makes that character a part of the value.
    private static func literal(_ value: String) -> String {
        let isEscaped = value.utf8.starts(with: "\\@".utf8) || value.utf8.starts(with: "\\=".utf8)
        return isEscaped ? String(value.unicodeScalars.dropFirst()) : value
    }

    /// Whether the item is a part of the body.
    var isData: Bool {
        switch self {
        case .header, .removedHeader, .emptyHeader, .query: false
        case .text, .json, .textFile, .jsonFile, .file, .body: true
        }
    }
}
