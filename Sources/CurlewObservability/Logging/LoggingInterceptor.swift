// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

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
