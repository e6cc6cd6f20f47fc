// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import CurlewRecording

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// `curlew har`: reads HAR files.
struct HARCommand {
    let arguments: ParsedArguments
    let io: CommandIO

    /// The greatest file.
    private static let limit = 1 << 30
    static let actions = ["show", "report", "curl", "redact", "diff"]

    func run() throws -> ExitCode {
        let console = Console(arguments, io)
        let operands = arguments.operands
        guard let action = operands.first, Self.actions.contains(action) else {
            let nearest = operands.first.flatMap { EditDistance.nearest(to: $0, in: Self.actions) }
            throw UsageError(
                "The action is missing or unknown.",
                nearest.map { "Did you mean \($0)?" } ?? "Write curlew har show, report, curl, redact or diff.")
        }
        let expected = action == "diff" ? 3 : 2
        guard operands.count == expected else {
            throw UsageError(
                "curlew har \(action) needs \(expected - 1) file\(expected == 2 ? "" : "s").",
                "Write curlew har \(action) FILE\(expected == 2 ? "" : " FILE").")
        }
        let document = try read(operands[1])
        switch action {
        case "curl":
            for entry in document.entries { try console.write(curl(entry) + "\n\n") }
        case "redact":
            try write(try document.redacted().data(pretty: true) + Data("\n".utf8), console)
        case "diff":
            let differences = HARDifference.lines(document, try read(operands[2]))
            for line in differences { try console.write(line.printable + "\n") }
            return differences.isEmpty ? .success : .failure
        case "report":
            let report = HTMLReport(document.redacted(redaction), title: operands[1])
            try write(Data(report.text.utf8), console)
        default:
            try console.write(show(document, console))
        }
        return .success
    }

    private func read(_ path: String) throws -> HARDocument {
        do throws(NetworkError) {
            return try HARDocument(try io.contents(of: path, limit: Self.limit))
        } catch {
            var failure = error
            failure.detail = "\(path): \(error.detail)"
            throw failure
        }
    }

    private func write(_ data: Data, _ console: Console) throws {
        guard let path = arguments[.output] else {
            guard console.isPretty else { return try console.write(data) }
            let text = String(decoding: data, as: UTF8.self)
            return try console.write(arguments.operands.first == "redact" ? SafeText.json(text) : SafeText.lines(text))
        }
        try io.replace(path, with: data)
    }

    private var redaction: Redaction { arguments.has(.showSecrets) ? .none : .standard }

    private func curl(_ entry: HARDocument.Entry) -> String {
        do throws(NetworkError) {
            let request = try entry.request.httpRequest()
            return request.curlCommand(redaction: redaction)
        } catch {
            return "# No command: \(error.detail)".printable
        }
    }

    /// Returns one line per exchange, with a bar that shows when it ran.
    private func show(_ document: HARDocument, _ console: Console) -> String {
        let entries = document.entries
        let starts = entries.map { $0.startedDateTime.timeIntervalSince1970 * 1000 }
        let first = starts.min() ?? 0
        let last = zip(starts, entries).map { $0 + max(0, $1.time) }.max() ?? 0
        let span = max(1, last - first)
        let room = 20.0
        var text = ""
        for (start, entry) in zip(starts, entries) {
            let begin = Int((start - first) / span * room)
            let length = max(1, Int((max(0, entry.time) / span * room).rounded()))
            let bar =
                String(repeating: " ", count: min(begin, 19))
                + String(repeating: "=", count: min(length, 20 - min(begin, 19)))
            let status = entry.response.status > 0 ? "\(entry.response.status)" : "---"
            let time = Duration.nanoseconds(Int64(max(0, min(entry.time, 1e12)) * 1_000_000)).brief
            let url = redaction.unusable(url: entry.request.url)
            text += console.style(Style.role(ofStatus: entry.response.status), status)
            text += " " + Self.padded(time, 9) + " |" + Self.padded(bar, 20) + "| "
            text += "\(entry.request.method) \(url)".printable
            if let error = entry.response.error { text += "  " + console.style(.bad, redaction.text(error).printable) }
            text += "\n"
        }
        let bytes = entries.reduce(Int64(0)) { sum, entry in
            let (total, overflows) = sum.addingReportingOverflow(max(0, entry.response.content.size))
            return overflows ? .max : total
        }
        let sum = Duration.nanoseconds(Int64(min(span, 1e12) * 1_000_000)).brief
        return text
            + console.style(
                .dim, "\(entries.count) exchange\(entries.count == 1 ? "" : "s"), \(bytes) bytes of bodies, \(sum)")
            + "\n"
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}

extension CommandIO {
    /// Replaces a file with content that only the user can read. A named pipe or a device is written to; `-` is the
    /// standard output.
    func replace(_ path: String, with data: Data) throws {
        if path == "-" { return try Console.write(data, to: self) }
        do throws(PrivateFile.Failure) {
            let path = self.path(path)
            guard try !ProcessStreams.writeToDevice(path, data) else { return }
            try PrivateFile.replace(path, with: data)
        } catch {
            throw NetworkError(.storage, detail: "\(error).", hint: error.hint ?? "Check the path and its folder.")
        }
    }
}
