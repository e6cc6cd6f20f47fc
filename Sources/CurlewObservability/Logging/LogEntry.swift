// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// One log entry: a request, a note, a response or a failure, redacted and without control characters.
public struct LogEntry: Sendable, CustomStringConvertible {
    /// The kind of a log entry.
    @nonexhaustive
    public enum Kind: Hashable, Sendable {
        /// The call or request begins.
        case request
        /// A decision during the call: one that `Level.line` lists or, from the level `.explain` on, any other.
        case note
        /// The head of a response has arrived, whatever its status.
        case response
        /// The call or request has failed without a response.
        case failure
    }

    /// The kind of the entry, from which a log can derive a severity.
    public let kind: Kind
    /// The number of the call. All entries of a call have the same number.
    public let exchange: UInt64
    /// The name of the endpoint; empty if the call has none.
    public let routeName: String
    /// The lines of the entry, redacted: one line, and further lines at the levels `.headers` and `.body`.
    public let lines: [String]
    /// The facts of the entry as names and values, for logs that store them separately. The names are those of the
    /// OpenTelemetry conventions where they exist:
    ///
    /// - request: `http.request.method`, `url.full`, and `attempt` from the second one on
    /// - note: `event.name`
    /// - response: `http.response.status_code`, `duration_ms`, `attempts` if there were several, and `source` if it
    ///   does not come from the server
    /// - failure: `error.type` (`MetricsRegistry.name(of:)`), `duration_ms` if a request was built, `attempts` if
    ///   several
    public let fields: [Field]

    /// Creates an entry. Control characters in `lines` and in values are escaped; secrets are not redacted.
    package init(
        _ kind: Kind, exchange: UInt64, routeName: String = "", lines: [String], fields: [Field] = []
    ) {
        self.kind = kind
        self.exchange = exchange
        self.routeName = routeName
        self.lines = lines.map(\.printable)
        self.fields = fields
    }

    /// One fact of an entry.
    public struct Field: Hashable, Sendable {
        /// The name, such as `url.full`.
        public let name: String
        /// The value, redacted and without control characters.
        public let value: String

        /// Creates a field. Control characters in `value` are escaped.
        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value.printable
        }
    }

    /// The value of the first field with this name; nil if there is none.
    public subscript(name: String) -> String? {
        fields.first { $0.name == name }?.value
    }

    /// The severity of an entry.
    public enum Severity: Comparable, CaseIterable, Sendable {
        /// Requests, and the notes that only the level `.explain` adds.
        case debug
        /// Responses with a status below 400, cancelled calls, and the notes of the level `.line`.
        case info
        /// Responses with a status of 400 or more.
        case warning
        /// Calls and requests that failed without a response, except cancelled ones.
        case error
    }

    /// The severity that follows from the kind and the fields of the entry.
    public var severity: Severity {
        switch kind {
        case .request: .debug
        case .note: self["event.name"].map(LogNote.isImportant) == true ? .info : .debug
        case .response:
            (self["http.response.status_code"].flatMap { ASCII.decimal($0[...]) } ?? 0) >= 400 ? .warning : .info
        case .failure: self["error.type"] == "cancelled" ? .info : .error
        }
    }

    /// The lines as text, without a trailing line break. Lines after the first are indented, so that none looks like a
    /// new entry.
    public var description: String {
        let sign =
            switch kind {
            case .request: "→"
            case .note: "·"
            case .response: "←"
            case .failure: "✗"
            }
        return (["\(sign) #\(exchange) \(lines.first ?? "")"] + lines.dropFirst().map { "    " + $0 })
            .joined(separator: "\n")
    }

    /// The amount of detail in a log. Each level includes the previous ones.
    public enum Level: Comparable, CaseIterable, Sendable {
        /// Nothing is logged.
        case off
        /// The request line, the status, time and size of the response, and a line for each retry, redirect, refresh of
        /// tokens, circuit that opens, fallback, and warning about pins.
        case line
        /// Also a line for every other decision, such as the use of the cache, waits for a limit and refused cookies,
        /// and for each request on the wire its connection.
        case explain
        /// Also the header fields, and the attempts if the call had several.
        case headers
        /// Also the first bytes of bodies that are text and in memory. For multipart, HTML and XML bodies, only the
        /// size is logged, because their secrets cannot be recognized, unless the redaction is `.none`.
        case body
    }

    /// The unit that is logged with a pair of entries: a call, or a request on the wire.
    public enum Unit: Sendable {
        /// Each call of the client, regardless of its retries and redirects.
        case call
        /// Each request that leaves the pipeline: every attempt, every redirect, and both requests of a hedged attempt.
        case request
    }

    /// Writes an entry to standard error. This is the default sink. Any thread may call it; entries are written
    /// completely, one at a time.
    @Sendable public static func standardError(_ entry: LogEntry) {
        let bytes = Array("\(entry)\n".utf8)
        outputLock.withLock { _ in
            _ = bytes.withUnsafeBytes { PrivateFile.write($0, to: STDERR_FILENO) }
        }
    }

    /// A lock that is held while an entry is written, so that the lines of two calls do not mix.
    private static let outputLock = Locked(NoValue())
}
