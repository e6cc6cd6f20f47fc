// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// `curlew curl`: sends the request of a curl command.
struct CurlCommands {
    let arguments: ParsedArguments
    let io: CommandIO

    func run() async throws -> ExitCode {
        let words: [String]
        if arguments.operands.count == 1, let text = arguments.operands.first {
            words = try ShellWords.split(text)
        } else {
            words = arguments.operands
        }
        let reader = try CurlReader(words, io)
        let console = Console(arguments, io)
        for warning in reader.warnings { console.note("curlew: \(warning)") }
        // The options of `curlew` come last, so that they override those of the command.
        let merged = try ParsedArguments(["curl"] + reader.options, overriddenBy: arguments)
        guard arguments.has(.items) else {
            return try await RequestCommand(arguments: merged, io: io).send(reader.plan)
        }
        let builder = ClientBuilder(arguments: merged, io: io)
        let (client, _) = try builder.client(for: reader.plan)
        let call = reader.plan.call { Request<HTTPResponse>($0, url: $1, body: $2, headers: $3, name: "") }
        let request = try client.request(for: call)
        try console.write(Self.command(request, reader.options, showsSecrets: arguments.has(.showSecrets)) + "\n")
        return .success
    }

    /// Returns the command that sends the request.
    private static func command(_ request: HTTPRequest, _ options: [String], showsSecrets: Bool) -> String {
        let redaction: Redaction = showsSecrets ? .none : .standard
        var words = ["curlew"]
        var isSecret = false
        for option in options {
            words.append(isSecret && !showsSecrets ? Redaction.mark : option)
            isSecret = option == "--auth"
        }
        words += [request.method.rawValue, redaction.url(request.urlString)]
        let implied: [HTTPField.Name] = request.body.isEmpty ? [] : [.contentType]
        for field in request.headers where !implied.contains(field.name) {
            if field.name == .accept, field.value == "*/*" { continue }
            if field.name == .userAgent, field.value == "curlew/0.1" { continue }
            let value = redaction.value(field.value, ofHeader: field.name)
            words.append(value.isEmpty ? "\(field.name.text);" : "\(field.name.text):\(value)")
        }
        if let type = request.headers[.contentType], !request.body.isEmpty { words.append("Content-Type:\(type)") }
        if let data = request.body.data, !request.body.isEmpty {
            let type = request.headers[.contentType].flatMap { MediaType($0) }
            let text = String(decoding: data, as: UTF8.self)
            words += ["--raw", redaction.bodyText(text, mediaType: type)]
        }
        return words.map(quoted).joined(separator: " ")
    }

    private static func quoted(_ word: String) -> String {
        let isPlain =
            !word.isEmpty
            && word.utf8.allSatisfy {
                (0x30...0x3A).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
                    || "-_./=,@%+".utf8.contains($0)
            }
        if isPlain { return word }
        return "'" + word.printable.reduce(into: "") { $0 += $1 == "'" ? "'\\''" : "\($1)" } + "'"
    }
}
