// SPDX-License-Identifier: MIT

/// Logs requests and responses with secrets redacted: two lines for each call, or for each request on the wire.
///
///     → #12 GET https://api.example.com/users/1 (GetUser)
///     ← #12 200 OK in 34 ms, 512 bytes
///
/// `each: .call`, the default, is the outermost interceptor and sees the call as its caller does: one pair of lines
/// whatever the retries and redirects, and the time until the response head arrives. The end of the line shows whether
/// the call took more than one attempt or its response is from a cache. `each: .sending` is the innermost interceptor
/// and sees each request as it is sent, with its credentials redacted, and what led to it. A pipeline may contain one
/// of each.
///
/// It never reads a streamed body and changes nothing. Calls that refresh tokens for a client are logged too.
public struct LoggingInterceptor: Interceptor {
    /// How much is logged. Each level includes the previous ones.
    public enum Level: Int, Comparable, CaseIterable, Sendable {
        /// Nothing is logged.
        case off
        /// Request line, status, time and size.
        case line
        /// The header fields, and the attempts of a call that had several.
        case headers
        /// The beginning of bodies that are text and in memory. Of multipart and XML, whose secrets cannot be
        /// recognized, only the size.
        case body

        /// Orders levels by how much they log.
        public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    /// The unit that two lines are logged for.
    public enum Unit: Sendable {
        /// Each call of the client.
        case call
        /// Each request that leaves the pipeline: every attempt, every redirect, both requests of a hedged attempt.
        case sending
    }

    private let text: ExchangeText
    private let level: Level
    private let unit: Unit
    private let sink: @Sendable (Entry) -> Void

    /// Creates a log of calls or of requests.
    ///
    /// - `unit`: what is logged, which also determines the position in the pipeline. Default `.call`.
    /// - `redaction`: what is redacted, besides what the client and its interceptors declare. Default `.standard`,
    ///   which always applies to URLs.
    /// - `bodyLimit`: the maximum number of bytes of a body that are logged. Default 4 KiB.
    /// - `sink`: receives each entry, on the task of the call, which waits for it. Default `standardError`.
    public init(
        _ level: Level = .line, each unit: Unit = .call, redaction: Redaction = .standard, bodyLimit: Int = 4096,
        sink: @escaping @Sendable (Entry) -> Void = standardError
    ) {
        self.level = level
        self.unit = unit
        self.sink = sink
        text = ExchangeText(level: level, redaction: redaction, bodyLimit: max(0, bodyLimit))
    }

    /// `.logging` for calls, `.wire` for requests.
    public var placement: Placement { unit == .call ? .logging : .wire }

    /// False: a preview sends nothing.
    public var runsInPreview: Bool { false }

    /// `.anonymous`: it changes nothing.
    public func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal { .anonymous }

    /// Logs the request, runs the rest of the chain, and logs the outcome.
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

    private func write(_ kind: Entry.Kind, _ lines: [String], _ context: ExchangeContext) {
        sink(Entry(kind, exchange: context.id, routeName: context.routeName, lines: lines))
    }
}

extension LoggingInterceptor: UnsentCallListener {
    /// Logs a call whose request could not be created.
    func note(unsent error: NetworkError, in context: ExchangeContext) {
        guard level > .off, unit == .call else { return }
        write(.failure, text.adding(context.secrets).lines(ofUnsent: error, in: context), context)
    }
}

extension LoggingInterceptor: CustomStringConvertible {
    /// `Logging(line)`
    public var description: String { unit == .call ? "Logging(\(level))" : "Logging(\(level), each sending)" }
}
