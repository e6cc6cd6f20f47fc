// SPDX-License-Identifier: MIT

/// Writes what a client sends and gets, secrets out: two lines for each call, or for each request on the wire.
///
///     → #12 GET https://api.example.com/users/1 (GetUser)
///     ← #12 200 OK in 34 ms, 512 bytes
///
/// `each: .call`, the default, stands outermost and sees the call as its caller does: one pair of lines whatever the
/// retries and redirects, and the time until the response's head is there. What took more than one attempt, or came from a
/// cache, says so at the end of the line. `each: .sending` stands innermost and sees each request as it goes to the wire,
/// with its credentials redacted, and what led to it. One of each may be in a pipeline.
///
/// It never reads a streamed body and changes nothing. The calls that renew tokens for a client are written too.
public struct LoggingInterceptor: Interceptor {
    /// How much is written. Each level includes the ones before it.
    public enum Level: Int, Comparable, CaseIterable, Sendable {
        /// Nothing.
        case off
        /// Request line, status, time and size.
        case line
        /// The header fields too, and the attempts of a call that had several.
        case headers
        /// The beginning of bodies too, if they are text and in memory. Of multipart and XML, whose secrets cannot be
        /// recognised, the size.
        case body

        /// Less is written.
        public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    /// What two lines are written for.
    public enum Unit: Sendable {
        /// Each call of the client.
        case call
        /// Each request that leaves the pipeline: every attempt, every redirect, both sendings of a hedged attempt.
        case sending
    }

    private let text: ExchangeText
    private let level: Level
    private let unit: Unit
    private let sink: @Sendable (Entry) -> Void

    /// A log of calls or of requests.
    ///
    /// - `unit`: what is written of, which also says where the log stands. Default `.call`.
    /// - `redaction`: what is not written, besides what the client and its interceptors declare. Default `.standard`,
    ///   which URLs always go through, whatever is said here.
    /// - `bodyLimit`: bytes of a body that are shown. Default 4 KiB.
    /// - `sink`: takes each entry, on the task of the call, which waits for it. Default `standardError`.
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

    /// False: nothing is sent.
    public var runsInPreview: Bool { false }

    /// `.anonymous`: it changes nothing.
    public func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal { .anonymous }

    /// Writes the request, runs the rest of the chain, writes what came of it.
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
    /// Writes a call of which no request could be made.
    func note(unsent error: NetworkError, in context: ExchangeContext) {
        guard level > .off, unit == .call else { return }
        write(.failure, text.adding(context.secrets).lines(ofUnsent: error, in: context), context)
    }
}

extension LoggingInterceptor: CustomStringConvertible {
    /// `Logging(line)`
    public var description: String { unit == .call ? "Logging(\(level))" : "Logging(\(level), each sending)" }
}
