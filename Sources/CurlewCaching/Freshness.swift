// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// The age and the freshness lifetime of a stored response (RFC 9111 §4.2), in seconds.
struct Freshness: Sendable {
    /// The cache directives of the response.
    let control: CacheControl
    /// The freshness lifetime, counted from the time at which the server generated the response.
    let lifetime: Double
    /// Whether the lifetime is heuristic (RFC 9111 §4.2.2).
    let isHeuristic: Bool
    /// The current age (RFC 9111 §4.2.3).
    let age: Double
    /// Whether the response was received after the current time, because the clock was set back. Its age is then
    /// unknown.
    let clockWentBack: Bool

    init(_ stored: HTTPCache.Entry, at now: Date) {
        control = CacheControl(stored.headers)
        let made = CacheDate.made(stored)
        (lifetime, isHeuristic) = Self.lifetime(of: stored, made, control)
        age = Self.age(of: stored, made, at: now)
        clockWentBack = now < stored.responseTime
    }

    /// Whether the response is fresh: `freshness_lifetime > current_age` (RFC 9111 §4.2). False if the clock was set
    /// back.
    var isFresh: Bool { lifetime > age && !clockWentBack }

    /// For how long the response has been stale; never negative.
    var staleness: Double { max(0, age - lifetime) }

    /// Whether the server forbids reuse of the stale response (RFC 9111 §4.2.4).
    var forbidsStale: Bool { control.isUnqualified("no-cache") || control.contains("must-revalidate") }

    /// The heuristic lifetime as a fraction of the time between `Last-Modified` and `Date` (RFC 9111 §4.2.2).
    private static let heuristicFraction = 0.1
    /// The maximum heuristic lifetime: one day.
    private static let heuristicLimit: Double = 86_400

    /// Returns the lifetime by the first rule of RFC 9111 §4.2.1 that applies, or the heuristic lifetime of §4.2.2 if
    /// none does.
    private static func lifetime(
        of stored: HTTPCache.Entry, _ made: Date, _ control: CacheControl
    ) -> (Double, isHeuristic: Bool) {
        if let seconds = control.seconds("max-age") { return (Double(seconds), false) }
        if let first = stored.headers.firstValue("Expires") {
            let expires = stored.headers[values: "Expires"]
            guard expires.allSatisfy({ $0 == first }), let date = CacheDate.read(first, now: stored.responseTime) else {
                return (0, false)
            }
            return (bounded(date.timeIntervalSince(made)), false)
        }
        guard HTTPCache.Options.isHeuristicallyCacheable(stored.status) || control.permits("public"),
            let changed = CacheDate.modified(stored.headers, now: stored.responseTime)
        else { return (0, false) }
        let guess = made.timeIntervalSince(changed) * heuristicFraction
        return (min(bounded(guess), heuristicLimit), true)
    }

    /// Returns the current age by RFC 9111 §4.2.3: the larger of two calculated ages.
    private static func age(of stored: HTTPCache.Entry, _ made: Date, at now: Date) -> Double {
        let apparent = max(0, stored.responseTime.timeIntervalSince(made))
        let delay = max(0, stored.responseTime.timeIntervalSince(stored.requestTime))
        let corrected = Double(ageValue(stored.headers)) + delay
        return bounded(max(apparent, corrected) + max(0, now.timeIntervalSince(stored.responseTime)))
    }

    /// Returns the value of the `Age` field, or the first member of a list, in seconds; 0 if it is missing or invalid
    /// (RFC 9111 §5.1).
    static func ageValue(_ headers: HTTPHeaders) -> Int {
        guard let field = headers.firstValue(.age) else { return 0 }
        return CacheControl.deltaSeconds(String(field.upTo(",").trimmed())) ?? 0
    }

    private static func bounded(_ seconds: Double) -> Double {
        min(max(0, seconds), Double(CacheControl.maximumSeconds))
    }
}

/// Parses dates in the fields of a response, as leniently as a cache must.
enum CacheDate {
    /// Parses a date in each of the formats of HTTP, without regard to case (RFC 9111 §4.2 requires that). Returns nil
    /// for time zones other than GMT and for invalid text.
    static func read(_ text: String, now: Date) -> Date? {
        if let date = HTTPDate(text, now: now) { return date.date }
        guard text.utf8.count <= 40 else { return nil }
        var word = ""
        var corrected = ""
        for scalar in (text + " ").unicodeScalars {
            if scalar.isASCII, scalar.properties.isAlphabetic {
                word += word.isEmpty ? scalar.properties.uppercaseMapping : scalar.properties.lowercaseMapping
                continue
            }
            corrected += word == "Gmt" ? "GMT" : word
            corrected.unicodeScalars.append(scalar)
            word = ""
        }
        return HTTPDate(String(Substring(corrected.utf8.dropLast())), now: now)?.date
    }

    /// Returns the time at which the server generated the response: its `Date`, or the time at which it was received
    /// (RFC 9110 §6.6.1).
    static func made(_ stored: HTTPCache.Entry) -> Date {
        stored.headers.firstValue(.date).flatMap { read($0, now: stored.responseTime) } ?? stored.responseTime
    }

    static func modified(_ headers: HTTPHeaders, now: Date) -> Date? {
        headers.firstValue(.lastModified).flatMap { read($0, now: now) }
    }
}

extension HTTPHeaders {
    /// Returns the value of the first field with this name, even if there are several.
    fileprivate func firstValue(_ name: HTTPField.Name) -> String? { first { $0.name == name }?.value }
}
