// SPDX-License-Identifier: MIT

import CurlewCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// One log entry: a request, a response or a failure, redacted and without control characters.
public struct LogEntry: Sendable, CustomStringConvertible {
    /// The kind of a log entry.
    public enum Kind: Hashable, Sendable {
        /// The call or request begins.
        case request
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
    /// The lines of the entry: one line, and further lines at the levels `.headers` and `.body`.
    public let lines: [String]

    /// Creates an entry that an app writes to the same sink. Control characters in `lines` are escaped. Secrets in
    /// `lines` are not redacted.
    public init(_ kind: Kind, exchange: UInt64, routeName: String = "", lines: [String]) {
        self.kind = kind
        self.exchange = exchange
        self.routeName = routeName
        self.lines = lines.map(\.printable)
    }

    /// The lines as text, without a trailing line break. Lines after the first are indented, so that none looks like a
    /// new entry.
    public var description: String {
        let sign =
            switch kind {
            case .request: "→"
            case .response: "←"
            case .failure: "✗"
            }
        return (["\(sign) #\(exchange) \(lines.first ?? "")"] + lines.dropFirst().map { "    " + $0 })
            .joined(separator: "\n")
    }

    /// The amount of detail in a log. Each level includes the previous ones.
    public enum Level: Int, Comparable, CaseIterable, Sendable {
        /// Nothing is logged.
        case off
        /// The request line, and the status, time and size of the response.
        case line
        /// Also the header fields, and the attempts if the call had several.
        case headers
        /// Also the first bytes of bodies that are text and in memory. For multipart and XML bodies, only the size is
        /// logged, because their secrets cannot be recognized.
        case body

        /// Returns whether `left` logs less than `right`.
        public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
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
            var written = 0
            while written < bytes.count {
                let count = bytes[written...].withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
                if count < 0, errno != EINTR { return }
                written += max(0, count)
            }
        }
    }

    /// A lock that is held while an entry is written, so that the lines of two calls do not mix.
    private static let outputLock = Locked(())
}
