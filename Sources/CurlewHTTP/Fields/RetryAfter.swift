// SPDX-License-Identifier: MIT

package import CurlewFoundation

/// The delay or the date in a `Retry-After` field, after which the client may retry (RFC 9110 §10.2.3).
///
/// The server's value may be hostile: callers must cap the delay and must not wait past a deadline.
package enum RetryAfter: Hashable, Sendable {
    /// Retry after this number of seconds.
    case seconds(Int)
    /// Retry at this date or later.
    case date(HTTPDate)

    /// Parses a `Retry-After` value: digits only, or a date. Returns nil for anything else.
    ///
    /// Numbers above 2³¹ − 1 (about 68 years in seconds) are clamped, so that adding them to a clock cannot overflow.
    package init?(_ value: String) {
        let bytes = value.utf8
        if !bytes.isEmpty, bytes.allSatisfy(ASCII.isDigit) {
            self = .seconds(min(ASCII.decimal(bytes) ?? Self.maximumSeconds, Self.maximumSeconds))
        } else if let date = HTTPDate(value) {
            self = .date(date)
        } else {
            return nil
        }
    }

    /// Returns the time to wait from `now`, at most 2³¹ − 1 seconds; zero for a date in the past.
    package func delay(now: Date) -> Duration {
        switch self {
        case .seconds(let seconds):
            return .seconds(min(max(0, seconds), Self.maximumSeconds))
        case .date(let date):
            let wait = Double(date.secondsSince1970) - now.timeIntervalSince1970
            return wait > 0 ? .seconds(min(wait, Double(Self.maximumSeconds))) : .zero
        }
    }

    private static let maximumSeconds = 2_147_483_647
}
