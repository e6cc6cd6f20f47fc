// SPDX-License-Identifier: MIT

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Tokens with the number of their generation.
struct IssuedTokens: Hashable, Sendable {
    let tokens: Tokens
    /// Counts up with each sign-in and each refresh; never used twice.
    let version: UInt64
    /// By the local clock, when the refresh ahead begins and when they end; nil if nobody knows.
    let life: (refresh: Date, end: Date)?

    static func == (left: IssuedTokens, right: IssuedTokens) -> Bool { left.version == right.version }

    func hash(into hasher: inout Hasher) { hasher.combine(version) }
}

/// The refresh coordinator without I/O: what is known about the tokens, and what to do next.
///
///     signed out ──signIn──▶ current(version) ◀──────────────┐
///         ▲                     │ ended, or refused           │ new tokens: version + 1
///         └──signOut, terminal──┤                             │
///                               ▼                             │
///                         refreshing(version) ────────────────┤
///                               └──────── transient failure: the same version stays
///
/// New tokens arrive, are kept, and are current only then: nobody uses what a crash could lose.
///
/// A flight belongs to the version it renews. Whatever else happens meanwhile (sign-out, another sign-in) takes the
/// flight off, and its result, when it comes, is nobody's any more.
struct TokenState {
    /// What a call is to do.
    enum Step: Equatable {
        case use(IssuedTokens)
        /// Use these; and somebody must start this flight.
        case useAndRefresh(IssuedTokens, flight: UInt64)
        /// Somebody must start this flight, and the call waits for it.
        case refresh(IssuedTokens?, flight: UInt64)
        case wait(flight: UInt64)
        case signedOut
        /// They were refused, and nothing can renew them.
        case giveUp
        /// Too many refreshes; the next one is possible after this time.
        case tooMany(retryAfter: Duration)
    }

    /// What a flight brought.
    enum Landing {
        case tokens(Tokens)
        /// The server says that the refresh token is not valid any more.
        case refused
        case failed
    }

    /// What became of it.
    enum Outcome: Equatable {
        /// The tokens are to be kept, and committed then.
        case arrived
        case signedOut
        case kept
        /// The flight had been taken off.
        case discarded
    }

    let policy: RefreshPolicy
    private(set) var current: IssuedTokens?
    /// Where the present session begins. What belongs to another one may be another person's.
    private(set) var firstVersion: UInt64 = 1
    private var flight: UInt64?
    private var arrived: Tokens?
    private var lastVersion: UInt64 = 0
    private var lastFlight: UInt64 = 0
    private var starts: [MonotonicInstant] = []
    /// How far the server's clock is ahead of ours.
    private var skew: TimeInterval = 0

    init(_ policy: RefreshPolicy) {
        self.policy = policy
    }

    /// Asks before a call, or after the server has refused the tokens of one version.
    mutating func step(
        refused version: UInt64? = nil, canRefresh: Bool = true, canObtain: Bool = false, now: MonotonicInstant,
        date: Date
    ) -> Step {
        if let version, version < firstVersion { return .giveUp }
        guard let current else {
            guard canObtain else { return .signedOut }
            return flight.map { .wait(flight: $0) } ?? start(isWaitedFor: true, now) ?? tooMany(now)
        }
        // Refused was an older generation: the call only has to be sent again.
        if let version, version != current.version { return .use(current) }
        let hasEnded = version != nil || current.life.map { date >= $0.end } ?? false
        guard canRefresh else { return version == nil ? .use(current) : .giveUp }
        guard hasEnded || current.life.map({ date >= $0.refresh }) ?? false else { return .use(current) }
        if let flight { return hasEnded ? .wait(flight: flight) : .use(current) }
        return start(isWaitedFor: hasEnded, now) ?? (hasEnded ? tooMany(now) : .use(current))
    }

    /// Nil if there have been too many. Refreshes ahead leave half of what is allowed to those that somebody waits for.
    private mutating func start(isWaitedFor: Bool, _ now: MonotonicInstant) -> Step? {
        // Not `policy.window` in the closure: where `Date` has no fixed layout, that would access all of `self`.
        let window = policy.window
        starts.removeAll { $0.duration(to: now) >= window }
        guard starts.count < max(1, isWaitedFor ? policy.limit : policy.limit / 2) else { return nil }
        starts.append(now)
        lastFlight += 1
        flight = lastFlight
        guard let current, !isWaitedFor else { return .refresh(current, flight: lastFlight) }
        return .useAndRefresh(current, flight: lastFlight)
    }

    private func tooMany(_ now: MonotonicInstant) -> Step {
        .tooMany(retryAfter: max(.zero, policy.window - (starts.first ?? now).duration(to: now)))
    }

    /// Takes what a flight brought.
    mutating func land(_ number: UInt64, with landing: Landing) -> Outcome {
        guard number == flight, arrived == nil else { return .discarded }
        switch landing {
        case .tokens(var tokens):
            // A server that does not rotate sends no new refresh token, and the old one stays good (RFC 6749 §6).
            tokens.refreshToken = tokens.refreshToken ?? current?.tokens.refreshToken
            tokens.session = current?.tokens.session ?? DigestAuthenticator.randomNonce()
            arrived = tokens
            return .arrived
        case .refused:
            _ = signOut()
            return .signedOut
        case .failed:
            flight = nil
            return .kept
        }
    }

    /// Another process has renewed the tokens, and has kept these. False if the flight was taken off meanwhile.
    mutating func landElsewhere(_ number: UInt64, _ tokens: Tokens, date: Date) -> Bool {
        guard isUnderWay(number) else { return false }
        flight = nil
        adopt(tokens, date: date)
        return true
    }

    /// What arrived has been kept, or cannot be: from now on it is used. False if the flight was taken off meanwhile.
    mutating func commit(_ number: UInt64, date: Date) -> Bool {
        guard number == flight, let tokens = arrived else { return false }
        (flight, arrived) = (nil, nil)
        issue(tokens, at: date)
        return true
    }

    /// True until the flight has landed or is taken off.
    func isUnderWay(_ number: UInt64) -> Bool { number == flight && arrived == nil }

    /// What another process has made of the present tokens; a flight that is under way goes on.
    mutating func adopt(_ tokens: Tokens, date: Date) { issue(tokens, at: date) }

    func hasEnded(_ tokens: Tokens, at date: Date) -> Bool {
        dated(tokens, 0, at: date).life.map { date >= $0.end } ?? false
    }

    /// True while what the flight brought is being kept.
    func hasArrived(_ number: UInt64) -> Bool { number == flight && arrived != nil }

    /// The newest tokens, which must not be lost.
    var newest: Tokens? { arrived ?? current?.tokens }

    /// New tokens from outside. A flight that was under way is taken off.
    ///
    /// - `isKept`: these were kept, with the session they belong to; others begin a session.
    mutating func signIn(_ tokens: Tokens, isKept: Bool = false, date: Date) {
        starts = []
        _ = signOut()
        var tokens = tokens
        if !isKept || tokens.session == nil { tokens.session = DigestAuthenticator.randomNonce() }
        issue(tokens, at: date)
    }

    /// True if there was something to forget.
    mutating func signOut() -> Bool {
        (flight, arrived) = (nil, nil)
        firstVersion = lastVersion + 1
        defer { current = nil }
        return current != nil
    }

    /// Who is signed in, through all refreshes.
    var principal: Principal {
        current?.tokens.session.map { .session($0) } ?? .anonymous
    }

    /// The server told its time at `date`. Differences under two seconds say nothing: dates have whole seconds, and
    /// answers take time.
    mutating func learn(serverDate: Date, at date: Date) {
        let difference = serverDate.timeIntervalSince(date)
        let new = abs(difference) < 2 ? 0 : difference
        guard abs(new - skew) >= 2 else { return }
        skew = new
        if let current { self.current = dated(current.tokens, current.version, at: date) }
    }

    private mutating func issue(_ tokens: Tokens, at date: Date) {
        lastVersion += 1
        current = dated(tokens, lastVersion, at: date)
    }

    private func dated(_ tokens: Tokens, _ version: UInt64, at date: Date) -> IssuedTokens {
        let life = tokens.expiresAt.map { end -> (refresh: Date, end: Date) in
            let end = tokens.isCountedHere ? end : end.addingTimeInterval(-skew)
            let leeway = min(Double(policy.leeway.wholeNanoseconds) / 1e9, max(0, end.timeIntervalSince(date)) / 4)
            return (end.addingTimeInterval(-max(0, leeway)), end)
        }
        return IssuedTokens(tokens: tokens, version: version, life: life)
    }
}
