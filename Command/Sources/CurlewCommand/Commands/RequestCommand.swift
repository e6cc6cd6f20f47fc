// SPDX-License-Identifier: MIT

import Curlew
import CurlewRecording

/// Sends one request and prints the response.
struct RequestCommand {
    let arguments: ParsedArguments
    let io: CommandIO

    func run() async throws -> ExitCode {
        try await send(try await RequestPlan(arguments, io: io))
    }

    func send(_ plan: RequestPlan) async throws -> ExitCode {
        let parts = try PrintedParts(arguments, isTerminal: io.outputIsTerminal)
        let sent = SentRequest()
        let run = try CommandClient(arguments, io, for: plan, adding: [sent])
        let console = run.console
        let call = plan.call { Request<HTTPResponse>($0, url: $1, body: $2, headers: $3, name: "") }
            .options { $0.streaming = true }
        let text = MessageText(
            style: console.style, isPretty: console.isPretty, showsSecrets: arguments.has(.showSecrets))
        if arguments.has(.offline) || arguments.has(.curl) {
            if let name = [OptionName.har, .report, .timing].first(where: { arguments.has($0) }) {
                throw UsageError("--\(name.rawValue) needs a request that is sent, not --offline or --curl.")
            }
            let request = try await run.client.preview(call)
            let redaction: Redaction = arguments.has(.showSecrets) ? .none : .standard
            try console.write(
                arguments.has(.curl)
                    ? request.curlCommand(redaction: redaction) + "\n" : text.head(of: request) + text.body(of: request)
            )
            if !console.isQuiet, let note = text.withheld(from: request) { console.note(note) }
            return .success
        }
        let start = SystemTime().now
        return try await run.run {
            let (response, count) = try await run.client.withResponse(to: call) { response in
                if parts.requestHead, let request = sent.last { try console.write(text.head(of: request)) }
                if parts.requestBody, let request = sent.last, !request.body.isEmpty {
                    try console.write(text.body(of: request) + "\n")
                }
                return (response, try await print(response, parts, console, text))
            }
            if parts.summary {
                let metrics = run.log.all.last?.metrics ?? response.metrics
                let time = metrics.total ?? start.duration(to: SystemTime().now)
                try console.write(text.summary(of: response, metrics, bodyBytes: count, after: time))
            }
            return arguments.has(.ignoreStatus) ? .success : ExitCode(response.status)
        }
    }

    /// Returns the number of bytes of the body.
    private func print(
        _ response: HTTPResponse, _ parts: PrintedParts, _ console: Console, _ text: MessageText
    ) async throws -> Int64 {
        if parts.responseHead { try console.write(text.head(of: response)) }
        let printer = ResponsePrinter(console: console, text: text)
        var count: Int64 = 0
        if arguments[.output] == "-" {
            count = try await printer.raw(response.body)
        } else if let path = arguments[.output] {
            count = try await ResponsePrinter.save(response.body, to: io.path(path))
        } else if parts.responseBody {
            count = try await printer.print(response)
            // The body may not end with a line break.
            if parts.summary, !console.isPretty, count > 0 { try console.write("\n") }
        }
        if response.status.isRedirection, let target = response.headers[.location], !arguments.has(.follow) {
            console.advise("The server redirects to \(console.shown(target).printable). Add --follow to follow it.")
        }
        return count
    }
}

/// The parts of an exchange that are printed, by the letters of `--print`.
struct PrintedParts: Sendable {
    private let letters: String

    var requestHead: Bool { letters.holds("H") }
    var requestBody: Bool { letters.holds("B") }
    var responseHead: Bool { letters.holds("h") }
    var responseBody: Bool { letters.holds("b") }
    var summary: Bool { letters.holds("m") }

    init(_ arguments: ParsedArguments, isTerminal: Bool) throws(UsageError) {
        let chosen = arguments[.print] ?? ""
        if let other = chosen.first(where: { !"HBhbm".contains($0) }) {
            throw UsageError("--print cannot have \"\(other)\".", "It can have H, B, h, b and m.")
        }
        let switches: [(OptionName, String)] = [(.headers, "h"), (.body, "b"), (.verbose, "HBhbm"), (.print, chosen)]
        let given = switches.filter { arguments.has($0.0) }
        letters = given.isEmpty ? (isTerminal ? "hb" : "b") : given.map(\.1).joined()
    }
}
