// SPDX-License-Identifier: MIT

package import CurlewFoundation

/// The remaining quota that a server reports in a response.
///
/// Three generations of fields are supported. If `RateLimit` can be parsed, only this field is used; otherwise, the
/// first pair of the older fields with a remaining count is used:
///
///     RateLimit: "burst";r=0;t=5, "daily";r=900;t=4000     draft-ietf-httpapi-ratelimit-headers-10, structured items
///     RateLimit: limit=100, remaining=0, reset=5           versions 07 and 08 of the draft
///     RateLimit-Remaining: 0, RateLimit-Reset: 5           its first versions; also `X-RateLimit-…`, `X-Rate-Limit-…`
///
/// Of several quotas, the one with the fewest remaining requests is used and, if these are equal, the one with the
/// latest reset. The server's values may be hostile: callers must cap the wait.
package struct RateLimitStatus: Hashable, Sendable {
    /// The number of requests that remain in the quota; never negative.
    package let remaining: Int
    /// The time from now until the quota is reset, from zero to 2³¹ − 1 seconds; nil if the server does not report it.
    package let reset: Duration?
}

extension RateLimitStatus {
    /// Parses the status from `headers`. Returns nil if no supported field can be parsed.
    ///
    /// - `status`: the status of the response. In the older fields, a 429 with a reset and no remaining count means
    ///   that nothing remains.
    /// - `now`: the wall-clock time. Some servers send `X-RateLimit-Reset` in seconds, others as a Unix time. Numbers
    ///   above 10⁹ (31 years in seconds) are read as a Unix time in seconds, numbers above 10¹¹ as a Unix time in
    ///   milliseconds. Fractions are rounded up.
    package init?(_ headers: HTTPHeaders, status: HTTPStatus? = nil, now: Date) {
        if let tightest = headers[Self.field].flatMap({ Self.items(of: $0).min(by: Self.isTighter) }) {
            self = tightest
            return
        }
        for names in Self.olderFields {
            let reset = headers[names.reset].flatMap { Self.reset($0, now) }
            let isOver = status == .tooManyRequests && reset != nil
            guard let remaining = headers[names.remaining].flatMap(Self.number) ?? (isOver ? 0 : nil) else { continue }
            self.init(remaining: remaining, reset: reset)
            return
        }
        return nil
    }

    /// Returns the time until a reset that is given in seconds, as a Unix time, or as a Unix time in milliseconds.
    private static func reset(_ text: String, _ now: Date) -> Duration? {
        guard let number = number(text, mayHaveFraction: true) else { return nil }
        let unit = number > 100_000_000_000 ? 1000.0 : 1
        let isTime = number > 1_000_000_000
        let wait = isTime ? Double(number) / unit - now.timeIntervalSince1970 : Double(number)
        return .seconds(min(max(0, wait), Double(maximumSeconds)))
    }

    // These names are looked up for every response, so they are created only once.
    private static let field: HTTPField.Name = "RateLimit"
    private static let olderFields: [(remaining: HTTPField.Name, reset: HTTPField.Name)] = [
        ("RateLimit-Remaining", "RateLimit-Reset"), ("X-RateLimit-Remaining", "X-RateLimit-Reset"),
        ("X-Rate-Limit-Remaining", "X-Rate-Limit-Reset"),
    ]
    private static let maximumSeconds = 2_147_483_647
    private static let maximumItems = 16

    private static func isTighter(_ left: RateLimitStatus, _ right: RateLimitStatus) -> Bool {
        (left.remaining, right.reset ?? .zero) < (right.remaining, left.reset ?? .zero)
    }

    /// Parses the comma-separated members of a `RateLimit` value, at most 16. The remaining count is a parameter of a
    /// member or, in older drafts, a separate member.
    private static func items(of value: String) -> [RateLimitStatus] {
        let members = value.parts(",", maximum: maximumItems + 1).prefix(maximumItems).map { member in
            member.parts(";").compactMap { part -> (name: String, number: Int)? in
                let pair = part.parts("=", maximum: 2).map { $0.without() }
                guard pair.count == 2, let number = number(pair[1]) else { return nil }
                return (pair[0], number)
            }
        }
        let structured = members.compactMap { status(in: $0, "r", "t") }
        if !structured.isEmpty { return structured }
        return status(in: members.flatMap { $0 }, "remaining", "reset").map { [$0] } ?? []
    }

    private static func status(
        in pairs: [(name: String, number: Int)], _ remaining: String, _ reset: String
    ) -> RateLimitStatus? {
        guard let left = pairs.first(where: { $0.name == remaining }) else { return nil }
        let wait = pairs.first { $0.name == reset }
        return RateLimitStatus(remaining: left.number, reset: wait.map { .seconds(min($0.number, maximumSeconds)) })
    }

    /// Returns the number at the beginning of a value, clamped to `Int`. Some servers send a list, whose first number
    /// is used.
    private static func number(_ text: String) -> Int? {
        number(text, mayHaveFraction: false).map { Int(clamping: $0) }
    }

    private static func number(_ text: String, mayHaveFraction: Bool) -> Int64? {
        let digits = text.utf8.prefix(while: ASCII.isDigit)
        guard !digits.isEmpty else { return nil }
        let value = ASCII.decimal(Substring(digits)) ?? .max
        var remainder = text.utf8.dropFirst(digits.count)
        var isFraction = false
        if mayHaveFraction, remainder.first == 0x2E {
            let fraction = remainder.dropFirst().prefix(while: ASCII.isDigit)
            guard !fraction.isEmpty else { return nil }
            isFraction = fraction.contains { $0 != 0x30 }
            remainder = remainder.dropFirst(1 + fraction.count)
        }
        guard remainder.isEmpty || [0x2C, 0x3B, 0x20].contains(remainder.first) else { return nil }
        return isFraction && value < .max ? value + 1 : value
    }
}

extension HTTPHeaders {
    /// Returns the time to wait from `now` that a `Retry-After` field requests, as a number of seconds or as a date
    /// (RFC 9110 §10.2.3): at most 2³¹ − 1 seconds (about 68 years), so that adding it to a clock cannot overflow, and
    /// zero for a date in the past. Nil if there is no such field, or if it is neither.
    ///
    /// The server's value may be hostile: callers must cap the wait and must not wait past a deadline.
    package func retryAfter(now: Date) -> Duration? {
        guard let value = self[.retryAfter] else { return nil }
        let (bytes, maximum) = (value.utf8, 2_147_483_647)
        if !bytes.isEmpty, bytes.allSatisfy(ASCII.isDigit) {
            return .seconds(Swift.min(ASCII.decimal(bytes) ?? maximum, maximum))
        }
        guard let date = HTTPDate(value) else { return nil }
        let wait = Double(date.secondsSince1970) - now.timeIntervalSince1970
        return wait > 0 ? .seconds(Swift.min(wait, Double(maximum))) : .zero
    }
}
