// SPDX-License-Identifier: MIT

/// Writes what a client sends and gets: two lines for each call, secrets out.
///
///     → #12 GET https://api.example.com/users/1 (GetUser)
///     ← #12 200 OK in 34 ms, 512 bytes
///
/// At its usual place, outermost, it sees the call as the caller does: one pair of lines whatever the retries and
/// redirects, and the time until the answer's head is there. Placed further in, it sees each attempt as it goes to the
/// wire. It never reads a streamed body and changes nothing.
public struct LoggingInterceptor: Interceptor {
    /// How much is written. Each level includes the ones before it.
    public enum Level: Int, Comparable, CaseIterable, Sendable {
        /// Nothing.
        case off
        /// Request line, status, time and size.
        case line
        /// The header fields too.
        case headers
        /// The beginning of bodies too, if they are text and in memory. Of multipart and XML, whose secrets cannot be
        /// recognised, the size.
        case body

        /// Less is written.
        public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    private let text: ExchangeText
    private let level: Level
    private let sink: @Sendable (Entry) -> Void

    /// A log of what happens at this place of the pipeline.
    ///
    /// - `redaction`: what is not written, besides what the client and its interceptors declare. Default `.standard`,
    ///   which URLs always go through, whatever is said here.
    /// - `bodyLimit`: bytes of a body that are shown. Default 4 KiB.
    /// - `sink`: takes each entry, on the task of the call, which waits for it. Default `standardError`.
    public init(
        _ level: Level = .line, redaction: Redaction = .standard, bodyLimit: Int = 4096,
        sink: @escaping @Sendable (Entry) -> Void = standardError
    ) {
        self.level = level
        self.sink = sink
        text = ExchangeText(level: level, redaction: redaction, bodyLimit: max(0, bodyLimit))
    }

    /// `.logging`.
    public var placement: Placement { .logging }

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
        sink(Entry(kind: kind, exchange: context.id, routeName: context.routeName, lines: lines))
    }
}

extension LoggingInterceptor: CustomStringConvertible {
    /// `Logging(line)`
    public var description: String { "Logging(\(level))" }
}
