// SPDX-License-Identifier: MIT

import Curlew
import CurlewRecording

/// `curlew har`: turns a HAR file of any program into something else, without its secrets.
struct HARCommand {
    let arguments: ParsedArguments
    let io: CommandIO

    /// The maximum size of a file.
    private static let limit = 1 << 30
    static let actions = ["report", "curl", "redact"]

    func run() throws -> ExitCode {
        let console = Console(arguments, io)
        let operands = arguments.operands
        guard operands.count == 2, Self.actions.contains(operands[0]) else {
            throw UsageError("The action or the file is missing.", "Write curlew har report, curl or redact FILE.")
        }
        let document = try HARDocument(try io.contents(of: operands[1], limit: Self.limit))
        switch operands[0] {
        case "curl":
            let commands = document.entries.map(curl)
            for command in commands { try console.write(command + "\n\n") }
            if !console.isQuiet, commands.contains(where: { $0.utf8.firstRange(of: "REDACTED".utf8) != nil }) {
                console.note("curlew: Secrets are REDACTED. --show-secrets shows those that the file contains.")
            }
        case "redact":
            try write(try document.redacted().data(pretty: true) + Data("\n".utf8), console) { SafeText.json($0) }
        default:
            let report = HTMLReport(document.redacted(redaction), title: operands[1])
            try write(Data(report.text.utf8), console) { SafeText.lines($0) }
        }
        return .success
    }

    private func write(_ data: Data, _ console: Console, _ safe: (String) -> String) throws {
        if let path = arguments[.output] { return try io.replace(path, with: data) }
        try console.write(console.isPretty ? Data(safe(String(decoding: data, as: UTF8.self)).utf8) : data)
    }

    private var redaction: Redaction { arguments.has(.showSecrets) ? .none : .standard }

    private func curl(_ entry: HARDocument.Entry) -> String {
        do throws(NetworkError) {
            return try entry.request.httpRequest().curlCommand(redaction: redaction)
        } catch {
            return "# No command: \(error.detail)".printable
        }
    }
}

extension CommandIO {
    /// Replaces a file with content that only the user can read. A named pipe or a device is written to; `-` is the
    /// standard output.
    func replace(_ path: String, with data: Data) throws {
        if path == "-" { return try Console.write(data, to: self) }
        let path = self.path(path)
        guard try !ProcessStreams.writeToDevice(path, data) else { return }
        try PrivateFile.replace(path, with: data)
    }
}
