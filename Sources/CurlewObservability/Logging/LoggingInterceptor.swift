// SPDX-License-Identifier: MIT

package import CurlewCore
package import CurlewHTTP

/// Logs calls or requests. For the rules, see `.logging(_:each:redaction:bodyLimit:sink:)`.
package struct LoggingInterceptor: Interceptor {
    private let text: ExchangeText
    private let level: LogEntry.Level
    private let unit: LogEntry.Unit
    private let sink: @Sendable (LogEntry) -> Void

    /// Creates an interceptor that logs calls or requests.
    public init(
        _ level: LogEntry.Level = .line, each unit: LogEntry.Unit = .call, redaction: Redaction = .standard,
        bodyLimit: Int = 4096,
        sink: @escaping @Sendable (LogEntry) -> Void = LogEntry.standardError
    ) {
        self.level = level
        self.unit = unit
        self.sink = sink
        text = ExchangeText(level: level, redaction: redaction, bodyLimit: max(0, bodyLimit))
    }

    /// The placement: `.logging` for calls, `.wire` for requests.
    public var placement: Placement { unit == .call ? .logging : .wire }

    /// False: a preview sends nothing that could be logged.
    public var runsInPreview: Bool { false }

    /// Returns `.anonymous`, because the interceptor changes nothing.
    public func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal { .anonymous }

    /// Logs the request, runs the rest of the pipeline, and logs the response or the error.
    public func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        guard level > .off else { return try await next(request) }
        let context = next.context
        let start = context.time.now
        let text = text.adding(request.secrets.isEmpty ? context.secrets : request.secrets)
        write(.request, text.lines(of: request, in: context), context)
        do {
            let response = try await next(request)
            write(.response, text.lines(of: response, after: start.duration(to: context.time.now)), context)
            return response
        } catch {
            write(.failure, text.lines(of: NetworkError(error), after: start.duration(to: context.time.now)), context)
            throw error
        }
    }

    private func write(_ kind: LogEntry.Kind, _ lines: [String], _ context: ExchangeContext) {
        sink(LogEntry(kind, exchange: context.id, routeName: context.routeName, lines: lines))
    }
}

extension LoggingInterceptor: UnsentCallListener {
    /// Logs a call whose request could not be created.
    package func note(unsent error: NetworkError, in context: ExchangeContext) {
        guard level > .off, unit == .call else { return }
        write(.failure, text.adding(context.secrets).lines(ofUnsent: error, in: context), context)
    }
}

extension LoggingInterceptor: CustomStringConvertible {
    /// The name of the interceptor and its level, such as `Logging(line)`.
    public var description: String { unit == .call ? "Logging(\(level))" : "Logging(\(level), each request)" }
}
