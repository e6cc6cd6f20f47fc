// SPDX-License-Identifier: MIT

public import CurlewCore
public import CurlewHTTP

/// Logs calls or requests. For the rules, see `.logging(_:each:redaction:bodyLimit:sink:)`.
struct LoggingInterceptor: Interceptor {
    private let text: ExchangeText
    private let level: LogEntry.Level
    private let unit: LogEntry.Unit
    private let sink: @Sendable (LogEntry) -> Void
    private let waiting = WaitingNotes()

    init(
        _ level: LogEntry.Level = .line, each unit: LogEntry.Unit = .call, redaction: Redaction = .standard,
        bodyLimit: Int = 4096,
        sink: @escaping @Sendable (LogEntry) -> Void = LogEntry.standardError
    ) {
        self.level = level
        self.unit = unit
        self.sink = sink
        text = ExchangeText(level: level, redaction: redaction, bodyLimit: max(0, bodyLimit))
    }

    /// The placement is `.logging` for calls, `.wire` for requests.
    var traits: InterceptorTraits {
        var traits = InterceptorTraits(unit == .call ? .logging : .wire)
        traits.sink = level > .off && unit == .call ? self : nil
        traits.runsInRefreshes = unit == .call
        return traits
    }

    func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        guard level > .off else { return try await next(request) }
        let context = next.context
        let start = context.time.now
        let text = text.adding(request.secrets.isEmpty ? context.secrets : request.secrets)
        write(.request, text.lines(of: request, in: context), context, text.fields(of: request, in: context))
        do {
            let response = try await next(request)
            let time = start.duration(to: context.time.now)
            writeWaiting(context)
            write(.response, text.lines(of: response, after: time), context, text.fields(of: response, after: time))
            return response
        } catch {
            let (time, error) = (start.duration(to: context.time.now), NetworkError(error))
            writeWaiting(context)
            write(.failure, text.lines(of: error, after: time), context, text.fields(of: error, after: time))
            throw error
        }
    }

    private func write(
        _ kind: LogEntry.Kind, _ lines: [String], _ context: ExchangeContext, _ fields: [LogEntry.Field]
    ) {
        sink(LogEntry(kind, exchange: context.id, routeName: context.routeName, lines: lines, fields: fields))
    }

    private func writeWaiting(_ context: ExchangeContext) {
        guard unit == .call else { return }
        for note in waiting.take(context.id) { write(note, context) }
    }

    private func write(_ note: LogNote, _ context: ExchangeContext) {
        let line = text.adding(context.secrets).line(note.text)
        write(.note, [line], context, [LogEntry.Field("event.name", note.name)])
    }
}

/// A log of calls includes their decisions. A log of requests needs no events.
extension LoggingInterceptor: EventSink {
    var detail: CallEvent.Detail { level >= .explain ? .requests : .calls }

    func receive(_ event: CallEvent, in context: ExchangeContext) {
        if level >= .explain, let note = LogNote.onWire(event, in: context) {
            return waiting.append(note, for: context.id)
        }
        switch event {
        case .other(.warned(let warning)):
            waiting.append(LogNote(name: "warning", text: "\(warning)"), for: context.id)
        case .other(let event):
            guard let note = LogNote(event), level >= .explain || LogNote.isImportant(note.name) else { return }
            writeWaiting(context)
            write(note, context)
        case .failed(nil, let error, _, _):
            let text = text.adding(context.secrets)
            write(.failure, text.lines(ofUnsent: error, in: context), context, text.fields(of: error, after: nil))
        case .succeeded: _ = waiting.take(context.id)
        case .failed: _ = waiting.take(context.id)
        default: return
        }
    }
}

extension LoggingInterceptor: CustomStringConvertible {
    /// The name of the interceptor and its level, such as `Logging(line)`.
    var description: String { unit == .call ? "Logging(\(level))" : "Logging(\(level), each request)" }
}

extension Interceptor where Self == BuiltInInterceptor {
    /// Logs each call in two lines, with lines for retries, redirects and other decisions between them, or, with
    /// `each: .request`, each request on the wire. Secrets are redacted.
    ///
    ///     → #12 GET https://api.example.com/users/1 (GetUser)
    ///     · #12 attempt 1: status 503 after 9 ms; retried in 10 ms, because the failure may be temporary
    ///     ← #12 200 OK in 34 ms, 512 bytes, 2 attempts
    ///
    /// - `each: .call`, the default, is the outermost interceptor and logs the call as its caller sees it, with the
    ///   time until the response head arrives. The end of the last line shows whether the call took more than one
    ///   attempt, and whether its response is from a cache.
    /// - `each: .request` is the innermost interceptor and logs each request as it is sent, with its credentials
    ///   redacted. For a further attempt, it also logs the cause.
    ///
    /// A pipeline may contain one of each.
    ///
    /// The log never reads a streamed body, and changes neither the request nor the response. With `each: .call`, calls
    /// that refresh tokens for a client are also logged.
    ///
    /// - `level`: how much of a call or request is logged. Default `.line`.
    /// - `unit`: whether calls or requests are logged. This also determines the position in the pipeline. Default
    ///   `.call`.
    /// - `redaction`: the secrets to redact, in addition to those that the client and its interceptors declare. Default
    ///   `.standard`. URLs are always redacted with `.standard` in addition; `.none` redacts nothing else.
    /// - `bodyLimit`: the maximum number of bytes that are logged of each body, at the level `.body`. Default 4 KiB.
    /// - `sink`: receives each entry. For requests, responses and failures it runs on the task of the call, and the
    ///   call waits until it returns. For notes it runs on the thread of the decision, so it must return soon. The
    ///   entries of a call arrive in order. Default `LogEntry.standardError`.
    public static func logging(
        _ level: LogEntry.Level = .line, each unit: LogEntry.Unit = .call,
        redaction: Redaction = .standard, bodyLimit: Int = 4096,
        sink: @escaping @Sendable (LogEntry) -> Void = LogEntry.standardError
    ) -> BuiltInInterceptor {
        BuiltInInterceptor(
            LoggingInterceptor(level, each: unit, redaction: redaction, bodyLimit: bodyLimit, sink: sink))
    }
}
