// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// A formatter that writes requests, responses and failures as lines of text. The text is redacted, limited in length,
/// and safe for a terminal.
struct ExchangeText: Sendable {
    let level: LogEntry.Level
    let redaction: Redaction
    let bodyLimit: Int

    /// Returns a copy that also redacts the secrets that the client and its interceptors declare.
    func adding(_ secrets: DeclaredSecrets) -> ExchangeText {
        ExchangeText(level: level, redaction: secrets.added(to: redaction), bodyLimit: bodyLimit)
    }

    func lines(of request: HTTPRequest, in context: ExchangeContext) -> [String] {
        let name = context.routeName.isEmpty ? "" : " (\(context.routeName))"
        let attempt = context.attempt == 1 ? "" : ", attempt \(context.attempt)" + cause(of: context)
        let line = "\(request.method) \(redaction.url(NetworkError.RequestLine(request).url))\(name)\(attempt)"
        let body = request.body.isEmpty ? [] : content(request.body.data, request.headers, "\(request.body)")
        return ([line] + fields(request.headers) + body).map(\.printable)
    }

    /// Returns the cause of a further attempt, in parentheses.
    private func cause(of context: ExchangeContext) -> String {
        context.pastAttempts.last.map { " (before: \(redaction.text($0.text)))" } ?? ""
    }

    /// Returns a suffix with the number of attempts if there were several. At the levels `.headers` and `.body`, also
    /// returns one line for each attempt.
    private func lines(of attempts: [NetworkError.Attempt]) -> (suffix: String, lines: [String]) {
        guard attempts.count > 1 else { return ("", []) }
        let lines = level < .headers ? [] : attempts.map { "attempt \(redaction.text("\($0)"))" }
        return (", \(attempts.count) attempts", lines)
    }

    /// Returns the lines for a call whose request could not be created.
    func lines(ofUnsent error: NetworkError, in context: ExchangeContext) -> [String] {
        let call = [error.unsentMethod.map { "\($0)" }, context.routeName.isEmpty ? nil : context.routeName]
            .compactMap { $0 }.joined(separator: " ")
        let detail = redaction.text(error.detail).clipped(to: 300).joinedLines
        return ["\(call.isEmpty ? "" : call + " ")not sent, \(error.label): \(detail)".printable]
    }

    func lines(of response: HTTPResponse, after time: Duration) -> [String] {
        let data = response.body.bufferedData
        let size = data.map { "\($0.count) bytes" } ?? "\(response.body)"
        let attempts = lines(of: response.attempts)
        let source = response.facts.otherSources.map { ", " + $0 }.joined()
        let line = "\(response.status) in \(time.brief), \(size)\(attempts.suffix)\(source)"
        let body = data?.isEmpty == true ? [] : content(data, response.headers, "streamed")
        return ([line] + attempts.lines + fields(response.headers) + body).map(\.printable)
    }

    func lines(of error: NetworkError, after time: Duration) -> [String] {
        let detail = redaction.text(error.detail).clipped(to: 300)
        let attempts = lines(of: error.attempts)
        let line =
            "\(error.label) after \(time.brief)\(attempts.suffix)\(detail.isEmpty ? "" : ": \(detail.joinedLines)")"
        return ([line] + attempts.lines).map(\.printable)
    }

    /// Returns a text of at most 500 bytes on one line.
    func line(_ line: String) -> String {
        redaction.text(line).clipped(to: 500).joinedLines.printable
    }

    func fields(of request: HTTPRequest, in context: ExchangeContext) -> [LogEntry.Field] {
        var fields = [
            LogEntry.Field("http.request.method", "\(request.method)"),
            LogEntry.Field("url.full", redaction.url(NetworkError.RequestLine(request).url)),
        ]
        if context.attempt > 1 { fields.append(LogEntry.Field("attempt", "\(context.attempt)")) }
        return fields
    }

    func fields(of response: HTTPResponse, after time: Duration) -> [LogEntry.Field] {
        let sources = response.facts.otherSources
        return [LogEntry.Field("http.response.status_code", "\(response.status.code)"), Self.duration(time)]
            + Self.count(response.attempts)
            + (sources.isEmpty ? [] : [LogEntry.Field("source", sources.joined(separator: "; "))])
    }

    /// - `time`: nil for a call whose request could not be created.
    func fields(of error: NetworkError, after time: Duration?) -> [LogEntry.Field] {
        [LogEntry.Field("error.type", error.reason.errorType)] + (time.map { [Self.duration($0)] } ?? [])
            + Self.count(error.attempts)
    }

    private static func duration(_ time: Duration) -> LogEntry.Field {
        LogEntry.Field("duration_ms", "\(time.wholeNanoseconds / 1_000_000)")
    }

    private static func count(_ attempts: [NetworkError.Attempt]) -> [LogEntry.Field] {
        attempts.count > 1 ? [LogEntry.Field("attempts", "\(attempts.count)")] : []
    }

    private func fields(_ headers: HTTPHeaders) -> [String] {
        guard level >= .headers else { return [] }
        return headers.map { "\($0.name): \(redaction.value($0.value, ofHeader: $0.name))" }
    }

    /// Returns the lines of a body, or one line with the reason why the body is omitted.
    private func content(_ data: Data?, _ headers: HTTPHeaders, _ absent: String) -> [String] {
        guard level >= .body else { return [] }
        guard let data else { return ["(\(absent), not shown)"] }
        let type = headers[.contentType].flatMap { MediaType($0) }
        guard let text = redaction.shownBody(data, mediaType: type, limit: bodyLimit, clips: true) else {
            return ["(\(data.count) bytes of \(type?.essence ?? "an unknown type"), not shown)"]
        }
        return text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map(String.init)
    }
}
