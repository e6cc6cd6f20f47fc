// SPDX-License-Identifier: MIT

import CurlewHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension HTTPRequest {
    /// The request as a command for `curl` in a POSIX shell, to repeat it by hand or to show it to someone.
    ///
    ///     curl --request 'POST' \
    ///         --header 'Content-Type: application/json' \
    ///         --data-raw '{"name":"Ada","password":"REDACTED"}' \
    ///         'https://api.example.com/users'
    ///
    /// Every part that comes from the request stands in single quotes, so that the shell reads it as text whatever it
    /// holds. Text bodies up to 16 KiB in memory are written out, a file is named; anything else (binary, streamed,
    /// multipart, longer) is left out, and a comment above the command says so.
    ///
    /// - `redaction`: secrets to replace. Default `.standard`; with `.none` the command holds them all.
    public func curlCommand(redaction: Redaction = .standard) -> String {
        CurlCommand(request: self, redaction: redaction).text
    }
}

/// Writes the command: one option to a line.
struct CurlCommand {
    let request: HTTPRequest
    let redaction: Redaction

    private static let bodyLimit = 16 << 10

    var text: String {
        let content = self.content
        var words: [String] = []
        if let method = methodOption(hasBody: content.option != nil) { words.append(method) }
        words += headerOptions(hasBody: content.option != nil)
        if let option = content.option { words.append(option) }
        let url = redaction.url(request.urlString)
        // curl reads brackets and braces in a URL as ranges and lists.
        if url.contains(where: { "[]{}".contains($0) }) { words.append("--globoff") }
        words.append(Self.quoted(url))
        let comment = content.comment.map { "# \($0)\n" } ?? ""
        return comment + (["curl " + words[0]] + words.dropFirst()).joined(separator: " \\\n    ")
    }

    /// What curl would do by itself is left out. `--request HEAD` would wait for a body that never comes.
    private func methodOption(hasBody: Bool) -> String? {
        switch request.method {
        case .get where !hasBody: nil
        case .head where !hasBody: "--head"
        default: "--request " + Self.quoted(request.method.rawValue)
        }
    }

    private func headerOptions(hasBody: Bool) -> [String] {
        var options = request.headers.map { field in
            let value = redaction.value(field.value, ofHeader: field.name)
            // curl drops a field without a value unless its name ends in a semicolon.
            return "--header " + Self.quoted(value.isEmpty ? "\(field.name);" : "\(field.name): \(value)")
        }
        if hasBody, !request.headers.contains(.contentType) {
            // curl would call the body a form.
            options.append("--header 'Content-Type:'")
        }
        return options
    }

    private var content: (option: String?, comment: String?) {
        switch request.body.kind {
        case .empty:
            return (nil, nil)
        case .file(let path):
            return ("--data-binary " + Self.quoted("@" + path), nil)
        case .parts, .stream:
            let type = request.headers[.contentType].flatMap { MediaType($0) }
            if let data = request.body.data,
                let text = redaction.shownBody(data, mediaType: type, limit: Self.bodyLimit, clips: false)
            {
                return ("--data-raw " + Self.quoted(text), nil)
            }
            return (nil, "The body is left out (\(request.body)).")
        }
    }

    /// Text that a POSIX shell reads back exactly: between single quotes only the single quote itself is special.
    static func quoted(_ text: String) -> String {
        // A NUL cannot be part of a command; nothing that is sent holds one, but a method may be any text.
        let text = text.replacing("\0", with: "").replacing("'", with: "'\\''")
        return "'\(text)'"
    }
}
