// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import CurlewRecording

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
        let reader = try await CurlReader(words, io)
        let console = Console(arguments, io)
        for warning in reader.warnings { console.note("curlew: \(warning)") }
        // The options of `curlew` come last, so that they override those of the command.
        let merged = try ParsedArguments(["curl"] + reader.options, overriddenBy: arguments)
        guard arguments.has(.items) else {
            return try await RequestCommand(arguments: merged, io: io).send(reader.plan)
        }
        // Building the request finds what is wrong with it.
        let (client, _) = try ClientBuilder(arguments: merged, io: io).client(for: reader.plan)
        _ = try client.request(
            for: reader.plan.call { Request<HTTPResponse>($0, url: $1, body: $2, headers: $3, name: "") })
        let items = CurlItems(reader: reader, redaction: arguments.has(.showSecrets) ? .none : .standard)
        try console.write(try items.words.map(Self.quoted).joined(separator: " ") + "\n")
        return .success
    }

    private static func quoted(_ word: String) -> String {
        let isPlain =
            !word.isEmpty
            && word.utf8.allSatisfy {
                (0x30...0x3A).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
                    || "-_./=,@%+".utf8.contains($0)
            }
        return isPlain ? word : ShellWord.quoted(word) ?? "''"
    }
}
