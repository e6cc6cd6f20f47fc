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
    /// The kind of an entry.
    public enum Kind: Hashable, Sendable {
        /// A request begins.
        case request
        /// The head of a response has arrived, whatever its status.
        case response
        /// There is no response.
        case failure
    }

    /// The kind of the entry, for a log with severities.
    public let kind: Kind
    /// The number of the call, which its entries share.
    public let exchange: UInt64
    /// The name of the endpoint; empty when the call has none.
    public let routeName: String
    /// The first line, and further ones at the levels `.headers` and `.body`.
    public let lines: [String]

    /// Creates an entry for the same sink. Control characters of `lines` are escaped; secrets in them are not
    /// recognized.
    public init(_ kind: Kind, exchange: UInt64, routeName: String = "", lines: [String]) {
        self.kind = kind
        self.exchange = exchange
        self.routeName = routeName
        self.lines = lines.map(\.printable)
    }

    /// The lines, without a trailing line break. Further lines are indented, so that none looks like a new entry.
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

    /// How much is logged. Each level includes the previous ones.
    public enum Level: Int, Comparable, CaseIterable, Sendable {
        /// Nothing is logged.
        case off
        /// Request line, status, time and size.
        case line
        /// The header fields, and the attempts of a call that had several.
        case headers
        /// The beginning of bodies that are text and in memory. Only the size is logged of multipart and XML
        /// bodies, whose secrets cannot be recognized.
        case body

        /// Orders levels by how much they log.
        public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    /// The unit that two lines are logged for.
    public enum Unit: Sendable {
        /// Each call of the client.
        case call
        /// Each request that leaves the pipeline: every attempt, every redirect, both requests of a hedged attempt.
        case request
    }

    /// The default sink: writes whole entries to standard error, one at a time from any thread.
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

    /// Held while an entry is written, so that the lines of two calls do not mix.
    private static let outputLock = Locked(())
}
