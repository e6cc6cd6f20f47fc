// SPDX-License-Identifier: MIT

/// The help texts, which are generated from the tables.
enum HelpText {
    static let version = "curlew 0.1"

    /// The help that fits on a screen: usage, commands, examples and the options of requests.
    static func overview(columns: Int) -> String {
        var text = "Usage: curlew [OPTIONS] [METHOD] URL [ITEM ...]\n       curlew COMMAND [ARGUMENT ...]\n\n"
        text += "Send HTTP requests, and see what happens.\n\n"
        text += "  curlew api.example.com/users            GET over https\n"
        text += "  curlew :8080/users name=Ann age:=31     POST {\"name\":\"Ann\",\"age\":31} to localhost\n"
        text += "  curlew PUT host/users/1 X-Trace:7 q==a  with a header field and a query item\n\n"
        text += "Commands:\n"
        text += table(CommandSpec.all.filter { $0.name != .request }.map { ($0.name.rawValue, $0.summary) }, columns)
        text += "\n" + options(of: .request, columns: columns)
        text += "\nMore: `curlew help COMMAND`, `curlew help items`, `curlew help exit-codes`.\n"
        return text
    }

    /// The help for one command.
    static func command(_ name: CommandName, columns: Int) -> String {
        let spec = CommandSpec.named(name)
        return "Usage: curlew \(spec.usage)\n\n\(spec.summary)\n\n" + options(of: name, columns: columns)
    }

    /// The help for a topic; nil if there is none.
    static func topic(_ topic: String, columns: Int) -> String? {
        switch topic {
        case "items": return "Items describe the request:\n" + table(items, columns)
        case "exit-codes":
            return "Exit codes:\n" + table(ExitCode.allCases.map { ("\($0.rawValue)", $0.meaning) }, columns)
        default: return CommandName(rawValue: topic).map { command($0, columns: columns) }
        }
    }

    /// The grammar of items.
    static let items: [(String, String)] = [
        ("Name:value", "A header field. `Name:` removes the field, `Name;` sends it empty."),
        ("name==value", "A query item."),
        ("name=value", "A text of the JSON object or form."),
        ("name:=json", "A JSON value: age:=31, tags:='[\"a\"]'."),
        ("name=@file, name:=@file", "A text or a JSON value that is the content of a file."),
        ("name@file", "A file of a multipart form: name@path;type=image/png sets its media type."),
        ("@file, @-", "The body: the content of a file, or of the standard input."),
        ("\\", "Before = : @ ; \\: part of the name; before @ or =: the value begins with that."),
    ]

    /// Returns the options of a command, by groups.
    static func options(of command: CommandName, columns: Int) -> String {
        OptionGroup.sections(CommandSpec.named(command).groups).map { section in
            "\(section.title):\n" + table(section.options.map { ($0.signature, $0.help) }, columns)
        }.joined(separator: "\n")
    }

    /// Returns two columns, of which the second is wrapped.
    static func table(_ rows: [(String, String)], _ columns: Int) -> String {
        let indent = min(26, 4 + (rows.map(\.0.count).max() ?? 0))
        return rows.map { name, text in
            let lines = wrapped(text, to: max(20, columns - indent))
            var result = "  " + name
            if name.count + 4 > indent {
                result += "\n" + String(repeating: " ", count: indent)
            } else {
                result += String(repeating: " ", count: indent - name.count - 2)
            }
            return result + lines.joined(separator: "\n" + String(repeating: " ", count: indent)) + "\n"
        }.joined()
    }

    static func wrapped(_ text: String, to width: Int) -> [String] {
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, last.count + 1 + word.count <= width {
                lines[lines.count - 1] = last + " " + word
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }
}

extension CommandOption {
    /// The names with the argument: `-o, --output FILE`.
    var signature: String {
        (short.map { "-\($0), " } ?? "") + long + (argument.map { " " + $0 } ?? "")
    }
}

/// The commands that only print a text.
struct TextCommands {
    let arguments: ParsedArguments
    let console: Console

    func run() throws -> ExitCode {
        switch arguments.command {
        case .completions:
            guard let shell = arguments.operands.first, let text = CompletionText.text(for: shell) else {
                throw UsageError("The shell is missing or unknown.", "Write curlew completions bash, zsh or fish.")
            }
            try console.write(text)
        default:
            guard let topic = arguments.operands.first else {
                try console.write(HelpText.overview(columns: console.io.columns))
                return .success
            }
            guard let text = HelpText.topic(topic, columns: console.io.columns) else {
                let topics = ["items", "exit-codes"] + CommandName.allCases.map(\.rawValue)
                throw UsageError("There is no help for \"\(topic)\".", "Topics: \(topics.joined(separator: ", ")).")
            }
            try console.write(text)
        }
        return .success
    }
}
