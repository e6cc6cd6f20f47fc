// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import CurlewRecording

/// Sends one request and prints the response.
struct RequestCommand {
    let arguments: ParsedArguments
    let io: CommandIO

    func run() async throws -> ExitCode {
        try await send(try await RequestPlan(arguments, io: io))
    }

    func send(_ plan: RequestPlan) async throws -> ExitCode {
        let console = Console(arguments, io)
        let parts = try PrintedParts(arguments, isTerminal: io.outputIsTerminal)
        let log = ExchangeLog()
        let insight = Insight(arguments, console)
        var observers: [any RequestObserver] = insight.observers
        let needsLog = arguments.has(.timing) || !parts.isDisjoint(with: [.requestHead, .requestBody, .summary])
        if needsLog { observers.append(log) }
        let builder = ClientBuilder(arguments: arguments, io: io)
        let (client, session) = try builder.client(for: plan, observers: observers, adding: insight.interceptors)
        let call = plan.call { Request<HTTPResponse>($0, url: $1, body: $2, headers: $3, name: "") }
            .options { $0.streaming = true }
        let text = MessageText(
            style: console.style, isPretty: console.isPretty, showsSecrets: arguments.has(.showSecrets))
        if arguments.has(.offline) || arguments.has(.curl) {
            if let name = [OptionName.har, .report, .timing].first(where: { arguments.has($0) }) {
                throw UsageError("--\(name.rawValue) needs a request that is sent, not --offline or --curl.")
            }
            return try await preview(call, client, console, text)
        }

        var code = ExitCode.success
        do {
            code = try await client.withResponse(to: call) { response in
                try await print(response, parts, log, console, text)
            }
        } catch {
            try? finish(log, console, session)
            insight.finishAfterFailure(io)
            throw error
        }
        // Each is written, even if the other one cannot be.
        let kept = Result { try finish(log, console, session) }
        try insight.finish(io)
        try kept.get()
        return code
    }

    private func finish(_ log: ExchangeLog, _ console: Console, _ session: Session?) throws {
        if arguments.has(.timing) {
            let timing = TimingText(style: console.errorStyle, columns: io.columns, environment: io.environment)
            io.note(timing.text(log.all))
        }
        try session?.save()
    }

    private func print(
        _ response: HTTPResponse, _ parts: PrintedParts, _ log: ExchangeLog, _ console: Console, _ text: MessageText
    ) async throws -> ExitCode {
        let start = SystemTime().now
        if let request = log.all.last?.request {
            if parts.contains(.requestHead) { try console.write(text.head(of: request)) }
            if parts.contains(.requestBody), !request.body.isEmpty { try console.write(text.body(of: request) + "\n") }
        }
        if parts.contains(.responseHead) { try console.write(text.head(of: response)) }
        var count: Int64 = 0
        if arguments[.output] == "-" {
            count = try await ResponsePrinter(console: console, text: text).raw(response.body)
        } else if let path = arguments[.output] {
            count = try await ResponsePrinter.save(response.body, to: io.path(path))
        } else if parts.contains(.responseBody) {
            count = try await ResponsePrinter(console: console, text: text).print(response)
            // The body may not end with a line break.
            if parts.contains(.summary), !console.isPretty, count > 0 { try console.write("\n") }
        }
        if parts.contains(.summary) {
            let metrics = log.all.last?.metrics
            let time = (metrics?.total ?? response.metrics.total) ?? start.duration(to: SystemTime().now)
            try console.write(text.summary(of: response, metrics, bodyBytes: count, after: time))
        }
        if response.status.isRedirection, let target = response.headers[.location], !arguments.has(.follow) {
            console.advise("The server redirects to \(console.shown(target).printable). Add --follow to follow it.")
        }
        return arguments.has(.ignoreStatus) ? .success : ExitCode(response.status)
    }

    private func preview(
        _ call: Request<HTTPResponse>, _ client: APIClient, _ console: Console, _ text: MessageText
    ) async throws -> ExitCode {
        let request = try await client.preview(call)
        if arguments.has(.curl) {
            let redaction: Redaction = arguments.has(.showSecrets) ? .none : .standard
            let command =
                arguments.has(.showSecrets)
                ? request.withoutDeclaredSecrets.curlCommand(redaction: redaction)
                : request.curlCommand(redaction: redaction)
            try console.write(command + "\n")
        } else {
            try console.write(text.head(of: request) + text.body(of: request))
        }
        return .success
    }
}

extension HTTPRequest {
    /// A copy whose descriptions show the secrets that the client declared.
    var withoutDeclaredSecrets: HTTPRequest {
        var copy = HTTPRequest(method, origin: origin, target: target, body: body)
        copy.headers = HTTPHeaders(headers.map { HTTPField(name: $0.name, value: $0.value) })
        return copy
    }
}
