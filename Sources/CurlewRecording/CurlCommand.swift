// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewFoundation
public import CurlewHTTP

extension HTTPRequest {
    /// Returns the request as a `curl` command for a POSIX shell, to repeat or share the request.
    ///
    ///     curl --request 'POST' \
    ///         --header 'Content-Type: application/json' \
    ///         --data-raw '{"name":"Ada","password":"REDACTED"}' \
    ///         'https://api.example.com/users'
    ///
    /// A POSIX shell (sh, bash, dash) reads every part of the request as text, byte for byte, whatever it contains.
    /// Control characters other than line breaks, and marks that change the direction of text, are written in octal, so
    /// the command can be shown in a terminal and pasted. The command is not safe for other shells (fish, csh,
    /// PowerShell).
    ///
    /// An argument cannot contain a NUL byte. If the method or a file name contains one, the result is a comment that
    /// states this, without a command.
    ///
    /// A text body in memory is included if it has at most 16 KiB and its secrets can be recognized (JSON, forms, plain
    /// text). For a file, the command contains its path. Any other body (binary, HTML, XML, streamed, multipart,
    /// longer) is omitted, and a comment above the command states this.
    ///
    /// - `redaction`: the secrets to redact, in addition to those that the client and its interceptors declare. With
    ///   `.none`, the command contains all of them, and also text whose secrets cannot be recognized, such as XML.
    ///   Default `.standard`.
    public func curlCommand(redaction: Redaction = .standard) -> String {
        CurlCommand(request: self, redaction: secrets.added(to: redaction)).text
    }
}

/// The `curl` command for a request, with one option per line.
struct CurlCommand {
    let request: HTTPRequest
    let redaction: Redaction

    private static let bodyLimit = 16 << 10

    var text: String {
        let content = self.content
        let hasBody = content.option != nil
        let url = redaction.url(request.urlString)
        var options = methodOption(hasBody: hasBody) + headerOptions(hasBody: hasBody)
        if let option = content.option { options.append(option) }
        // curl treats brackets and braces in a URL as ranges and lists.
        if url.utf8.contains(where: { "[]{}".utf8.contains($0) }) { options.append(Option("--globoff")) }
        options.append(Option("", url))
        let lines = options.compactMap(\.text)
        guard lines.count == options.count else {
            return "# No command: the method or the file name contains a NUL byte, which an argument cannot."
        }
        let comment = content.comment.map { "# \($0)\n" } ?? ""
        return comment + "curl " + lines.joined(separator: " \\\n    ")
    }

    /// Returns the option for the method; empty if curl uses that method by default. HEAD becomes `--head`, because
    /// curl would wait for a body with `--request HEAD`.
    private func methodOption(hasBody: Bool) -> [Option] {
        switch request.method {
        case .get where !hasBody: []
        case .head where !hasBody: [Option("--head")]
        default: [Option("--request ", request.method.rawValue)]
        }
    }

    private func headerOptions(hasBody: Bool) -> [Option] {
        // A name is a token, so curl cannot treat the argument as `@file`.
        var options = request.headers.map { field in
            let value = redaction.value(field.value, ofHeader: field.name)
            // curl drops a field without a value unless its name ends in a semicolon.
            return Option("--header ", value.isEmpty ? "\(field.name);" : "\(field.name): \(value)")
        }
        if hasBody, !request.headers.contains(.contentType) {
            // curl would declare the body as a form.
            options.append(Option("--header ", "Content-Type:"))
        }
        return options
    }

    private var content: (option: Option?, comment: String?) {
        switch request.body.kind {
        case .empty:
            return (nil, nil)
        case .file(let path):
            // curl treats `@-` as the standard input.
            return (Option("--data-binary ", path == "-" ? "@./-" : "@" + path), nil)
        case .parts, .stream:
            let type = request.headers[.contentType].flatMap { MediaType($0) }
            if let data = request.body.data,
                let text = redaction.shownBody(data, mediaType: type, limit: Self.bodyLimit, clips: false)
            {
                return (Option("--data-raw ", text), nil)
            }
            // The comment contains a length but no text from the request, so no line break can end it.
            return (nil, "The body is omitted (\(request.body)).")
        }
    }

    /// An option with its argument, or an operand if `name` is empty.
    private struct Option {
        /// The option with its quoted argument; nil if the argument contains a NUL byte, because the shell cannot
        /// represent one.
        let text: String?

        init(_ name: String) { text = name }

        init(_ name: String, _ argument: String) { text = ShellWord.quoted(argument).map { name + $0 } }
    }
}

extension HARDocument.Entry {
    /// Returns the request of the entry as a `curl` command for a POSIX shell: see `HTTPRequest.curlCommand()`.
    ///
    /// If the document lacks the body but has its size, a comment above the command states the size. If the request
    /// cannot be a command, the result is a comment with the reason.
    ///
    /// - `redaction`: the secrets to redact. Default `.standard`.
    package func curlCommand(redaction: Redaction = .standard) -> String {
        do {
            let recorded = try request.httpRequest()
            let isMissing = recorded.body.isEmpty && request.bodySize > 0
            let comment = isMissing ? "# The body is omitted (\(request.bodySize) bytes).\n" : ""
            return comment + recorded.curlCommand(redaction: redaction)
        } catch {
            return "# No command: \(error.detail.joinedLines.printable)"
        }
    }
}

/// Quotes text as a single word for a POSIX shell.
///
/// The text is processed as Unicode scalars, because the shell reads bytes: in Swift, a quote with a combining mark is
/// a different `Character`.
package enum ShellWord {
    /// Returns a word that a shell reads back as exactly `text`; nil if `text` contains a NUL, because no argument can
    /// contain one.
    ///
    /// Most text is in single quotes, where only the single quote is special. Characters that affect a terminal or a
    /// line editor when the word is shown or pasted are written by `printf` in octal:
    /// - control characters: ESC can end a paste, and a tab can complete a file name and close the quote
    /// - direction marks
    /// - `!` and `^` after a line break, where some shells expand history even inside quotes
    ///
    /// Line breaks are written as they are, because the command substitution around `printf` drops trailing ones.
    package static func quoted(_ text: String) -> String? {
        guard !text.isEmpty else { return "''" }
        var writer = Writer()
        var hasLineBreak = false
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\0": return nil
            case "'": writer.enter(.plain, "\\'")
            case "!" where hasLineBreak, "^" where hasLineBreak: writer.octal(scalar)
            case _ where scalar != "\n" && isActive(scalar): writer.octal(scalar)
            default: writer.quote(scalar)
            }
            if scalar == "\n" { hasLineBreak = true }
        }
        return writer.finished()
    }

    /// Returns whether the scalar is a control character, a line separator, or a mark that changes the direction or
    /// position of text.
    private static func isActive(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F...0x9F, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    private struct Writer {
        enum Part { case plain, quoted, printed }

        private var word = ""
        private var part = Part.plain

        mutating func quote(_ scalar: Unicode.Scalar) {
            enter(.quoted, "")
            word.unicodeScalars.append(scalar)
        }

        mutating func octal(_ scalar: Unicode.Scalar) {
            enter(.printed, "")
            for byte in String(scalar).utf8 {
                let digits = String(byte, radix: 8)
                word += "\\" + String(repeating: "0", count: 3 - digits.utf8.count) + digits
            }
        }

        /// Adds `text` to a part of the kind `next`. If the current part is of another kind, ends it and begins a new
        /// one.
        mutating func enter(_ next: Part, _ text: String) {
            if next != part {
                switch part {
                case .plain: break
                case .quoted: word += "'"
                case .printed: word += "')\""
                }
                switch next {
                case .plain: break
                case .quoted: word += "'"
                case .printed: word += "\"$(printf '"
                }
                part = next
            }
            word += text
        }

        mutating func finished() -> String {
            enter(.plain, "")
            return word
        }
    }
}
