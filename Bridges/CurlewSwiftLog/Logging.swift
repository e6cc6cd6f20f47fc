// SPDX-License-Identifier: MIT

#if SwiftLog
public import Curlew
import CurlewTracing
public import Logging

extension Interceptor where Self == BuiltInInterceptor {
    /// Logs calls to `logger`, as `.logging(_:each:redaction:bodyLimit:sink:)` logs them to a closure. Secrets are
    /// redacted before the logger receives an entry, and a streamed body is never read.
    ///
    ///     let client = APIClient(baseURL: "https://api.example.com", pipeline: .standard.adding(.logging(to: logger)))
    ///
    /// - Levels: `.debug` for requests and explanations; `.info` for responses below 400, retries, redirects, refreshes
    ///   of tokens and cancelled calls; `.warning` for responses from 400 on; `.error` for calls that fail without a
    ///   response.
    /// - Metadata: the fields of the entry, which have the names of OpenTelemetry (`url.full`, `error.type`, …), with
    ///   `http.request.resend_count` for further attempts; `curlew.call`, the number of the call; and `curlew.route`.
    ///   The values are texts.
    /// - The source of all entries is `Curlew`.
    ///
    /// The parameters are those of that function. What is below the level of the logger costs no message.
    public static func logging(
        to logger: Logger, _ level: LogEntry.Level = .line, each unit: LogEntry.Unit = .call,
        redaction: Redaction = .standard, bodyLimit: Int = 4096
    ) -> BuiltInInterceptor {
        .logging(level, each: unit, redaction: redaction, bodyLimit: bodyLimit) { entry in
            logger.log(
                level: entry.severity.level, "\(entry.lines.joined(separator: "\n    "))", metadata: entry.metadata,
                source: "Curlew")
        }
    }
}

extension Logger.MetadataProvider {
    /// The identifiers of the current trace, `trace_id` and `span_id`, for apps that trace with `CurlewTracing`. Pass
    /// it to `LoggingSystem.bootstrap`, and every entry within `TraceContext.with(_:_:)` has them.
    public static let traceContext = Logger.MetadataProvider {
        guard let context = TraceContext.current else { return [:] }
        return ["trace_id": "\(context.traceID)", "span_id": "\(context.spanID)"]
    }
}

extension LogEntry.Severity {
    fileprivate var level: Logger.Level {
        switch self {
        case .debug: .debug
        case .info: .info
        case .warning: .warning
        case .error: .error
        }
    }
}

extension LogEntry {
    fileprivate var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = ["curlew.call": "\(exchange)"]
        if !routeName.isEmpty { metadata["curlew.route"] = "\(routeName)" }
        for field in fields {
            if field.name == "attempt", let attempt = Int(field.value) {
                metadata["http.request.resend_count"] = "\(attempt - 1)"
            } else {
                metadata[field.name] = "\(field.value)"
            }
        }
        return metadata
    }
}
#endif
