// SPDX-License-Identifier: MIT

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// When a server asks to be tried again (RFC 9110 §10.2.3).
///
/// The value is the server's wish and may be hostile: callers cap it and never wait past a deadline.
public enum RetryAfter: Hashable, Sendable {
    /// After this many seconds.
    case seconds(Int)
    /// At this moment.
    case date(HTTPDate)

    /// Reads a `Retry-After` value: digits only, or a date.
    ///
    /// Numbers above 2³¹ − 1 are read as that, about 68 years, so that sums with clocks cannot overflow.
    public init?(_ value: String) {
        let bytes = value.utf8
        if !bytes.isEmpty, bytes.allSatisfy(ASCII.isDigit) {
            self = .seconds(min(ASCII.decimal(bytes) ?? Self.longest, Self.longest))
        } else if let date = HTTPDate(value) {
            self = .date(date)
        } else {
            return nil
        }
    }

    /// The time to wait from `now` on; zero for a moment that has passed, and at most 2³¹ − 1 seconds.
    public func delay(now: Date) -> Duration {
        switch self {
        case .seconds(let seconds):
            return .seconds(min(max(0, seconds), Self.longest))
        case .date(let date):
            let wait = Double(date.secondsSince1970) - now.timeIntervalSince1970
            return wait > 0 ? .seconds(min(wait, Double(Self.longest))) : .zero
        }
    }

    private static let longest = 2_147_483_647
}
