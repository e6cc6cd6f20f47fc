// SPDX-License-Identifier: MIT

import CurlewHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// How old a stored response is, and how long it is good (RFC 9111 §4.2), in seconds.
struct Freshness: Sendable {
    /// The directives of the response.
    let control: CacheControl
    /// For how long it is fresh, from its making on.
    let lifetime: Double
    /// True if nobody named a time.
    let isHeuristic: Bool
    /// True if the app has named the time (`CacheRules.lifetimes`).
    let isRuled: Bool
    /// How old it is.
    let age: Double
    /// True if it seems to come from the future: then its age is not known.
    let clockWentBack: Bool

    init(_ stored: StoredResponse, at now: Date, _ rules: CacheRules) {
        (control, isRuled) = rules.control(stored.headers, stored.status, at: stored.key.target)
        let made = CacheDate.made(stored)
        (lifetime, isHeuristic) = Self.lifetime(of: stored, made, control, rules)
        age = Self.age(of: stored, made, at: now)
        clockWentBack = now < stored.responseTime
    }

    /// `freshness_lifetime > current_age`
    var isFresh: Bool { lifetime > age && !clockWentBack }

    /// For how long it has been stale; not negative.
    var staleness: Double { max(0, age - lifetime) }

    /// Whether the server forbids to use it once it is stale (RFC 9111 §4.2.4).
    var forbidsStale: Bool { control.isUnqualified("no-cache") || control.contains("must-revalidate") }

    /// RFC 9111 §4.2.1, the first rule that applies; §4.2.2 if none does.
    private static func lifetime(
        of stored: StoredResponse, _ made: Date, _ control: CacheControl, _ rules: CacheRules
    ) -> (Double, isHeuristic: Bool) {
        if let seconds = control.seconds("max-age") { return (Double(seconds), false) }
        if let first = stored.headers.firstValue(.expires) {
            let expires = stored.headers[values: .expires]
            guard expires.allSatisfy({ $0 == first }), let date = CacheDate.read(first, now: stored.responseTime) else {
                return (0, false)
            }
            return (bounded(date.timeIntervalSince(made)), false)
        }
        guard CacheRules.isHeuristicallyCacheable(stored.status) || control.permits("public"),
            let changed = CacheDate.modified(stored.headers, now: stored.responseTime)
        else { return (0, false) }
        let guess = made.timeIntervalSince(changed) * rules.heuristicFraction
        return (min(bounded(guess), Double(rules.heuristicLimit.wholeNanoseconds) / 1e9), true)
    }

    /// RFC 9111 §4.2.3, with the more conservative of the two ways.
    private static func age(of stored: StoredResponse, _ made: Date, at now: Date) -> Double {
        let apparent = max(0, stored.responseTime.timeIntervalSince(made))
        let delay = max(0, stored.responseTime.timeIntervalSince(stored.requestTime))
        let corrected = Double(ageValue(stored.headers)) + delay
        return bounded(max(apparent, corrected) + max(0, now.timeIntervalSince(stored.responseTime)))
    }

    /// The `Age` field: of a list the first member; what is no number is ignored (RFC 9111 §5.1).
    static func ageValue(_ headers: HTTPHeaders) -> Int {
        guard let field = headers.firstValue(.age) else { return 0 }
        return CacheControl.deltaSeconds(String(field.upTo(",").trimmed())) ?? 0
    }

    private static func bounded(_ seconds: Double) -> Double {
        min(max(0, seconds), Double(CacheControl.longest))
    }
}

/// Dates as caches have to read them.
enum CacheDate {
    /// A date of any form and in any case (RFC 9111 §4.2 asks for that); nil for other zones than GMT and for nonsense.
    static func read(_ text: String, now: Date) -> Date? {
        if let date = HTTPDate(text, now: now) { return date.date }
        guard text.utf8.count <= 40 else { return nil }
        var word = ""
        var spelled = ""
        for scalar in (text + " ").unicodeScalars {
            if scalar.isASCII, scalar.properties.isAlphabetic {
                word += word.isEmpty ? scalar.properties.uppercaseMapping : scalar.properties.lowercaseMapping
                continue
            }
            spelled += word == "Gmt" ? "GMT" : word
            spelled.unicodeScalars.append(scalar)
            word = ""
        }
        return HTTPDate(String(Substring(spelled.utf8.dropLast())), now: now)?.date
    }

    /// When the server made it: its `Date`, else when it came (RFC 9110 §6.6.1).
    static func made(_ stored: StoredResponse) -> Date {
        stored.headers.firstValue(.date).flatMap { read($0, now: stored.responseTime) } ?? stored.responseTime
    }

    static func modified(_ headers: HTTPHeaders, now: Date) -> Date? {
        headers.firstValue(.lastModified).flatMap { read($0, now: now) }
    }
}
