// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation

/// Tokens with a version number and their lifetime.
struct IssuedTokens: Hashable, Sendable {
    let tokens: Tokens
    /// The version number. It increases with each sign-in and each refresh, and is never reused.
    let version: UInt64
    /// The times, by the local clock, when the proactive refresh begins and when the tokens expire; nil if unknown.
    let life: (refresh: Date, end: Date)?

    static func == (left: IssuedTokens, right: IssuedTokens) -> Bool { left.version == right.version }

    func hash(into hasher: inout Hasher) { hasher.combine(version) }
}

/// The state machine of token refreshes, without I/O: the known tokens, and the next step.
///
///     signed out ──signIn──▶ current(version) ◀──────────────┐
///         ▲                     │ ended, or refused           │ new tokens: version + 1
///         └──signOut, terminal──┤                             │
///                               ▼                             │
///                         refreshing(version) ────────────────┤
///                               └──────── transient failure: the same version stays
///
/// New tokens are stored before they become current, so that no call uses tokens that a crash could lose. If storing
/// fails, they become current anyway.
///
/// A refresh belongs to the version that it refreshes. A sign-out or another sign-in during the refresh cancels the
/// refresh and discards its result.
struct TokenState {
    enum Step: Equatable {
        case use(IssuedTokens)
        /// The call uses these tokens, and `TokenStore` must start this refresh.
        case useAndRefresh(IssuedTokens, refreshID: UInt64)
        /// `TokenStore` must start this refresh, and the call waits for its result.
        case refresh(IssuedTokens?, refreshID: UInt64)
        case wait(refreshID: UInt64)
        case signedOut
        /// The tokens were refused. They cannot be refreshed, or they belong to an earlier sign-in.
        case giveUp
        /// The limit of refreshes is reached. The next refresh is possible after this time.
        case tooMany(retryAfter: Duration)
    }

    enum RefreshOutcome {
        case tokens(Tokens)
        /// The server reports that the refresh token is no longer valid.
        case refused
        case failed
    }

    /// The change that the result of a refresh makes.
    enum Outcome: Equatable {
        /// New tokens have arrived. They must be stored and then committed.
        case arrived
        case signedOut
        case kept
        /// The result is ignored, because the refresh was cancelled.
        case discarded
    }

    let policy: TokenStore.RefreshPolicy
    private(set) var current: IssuedTokens?
    /// The first version of the current session. Earlier versions may belong to another user.
    private(set) var firstVersion: UInt64 = 1
    private var refreshID: UInt64?
    private var arrived: Tokens?
    private var lastVersion: UInt64 = 0
    private var lastRefreshID: UInt64 = 0
    private var starts: [SystemTime.Instant] = []
    /// The number of seconds by which the server's clock is ahead of the local clock.
    private var skew: TimeInterval = 0

    init(_ policy: TokenStore.RefreshPolicy) {
        self.policy = policy
    }

    /// Returns the next step before a call, or after the server has refused the tokens of one version.
    mutating func step(
        refused version: UInt64? = nil, canRefresh: Bool = true, canObtain: Bool = false, now: SystemTime.Instant,
        date: Date
    ) -> Step {
        if let version, version < firstVersion { return .giveUp }
        guard let current else {
            guard canObtain else { return .signedOut }
            return refreshID.map { .wait(refreshID: $0) } ?? start(isWaitedFor: true, now) ?? tooMany(now)
        }
        // An older version was refused: the call only has to be sent again.
        if let version, version != current.version { return .use(current) }
        let hasEnded = version != nil || current.life.map { date >= $0.end } ?? false
        guard canRefresh else { return version == nil ? .use(current) : .giveUp }
        guard hasEnded || current.life.map({ date >= $0.refresh }) ?? false else { return .use(current) }
        if let refreshID { return hasEnded ? .wait(refreshID: refreshID) : .use(current) }
        return start(isWaitedFor: hasEnded, now) ?? (hasEnded ? tooMany(now) : .use(current))
    }

    /// Starts a refresh; returns nil if the limit is reached. Proactive refreshes use at most half of the limit, so
    /// that the rest remains for refreshes that calls wait for.
    private mutating func start(isWaitedFor: Bool, _ now: SystemTime.Instant) -> Step? {
        // `policy.window` in the closure would access all of `self` where `Date` has no fixed layout.
        let window = policy.window
        starts.removeAll { $0.duration(to: now) >= window }
        guard starts.count < max(1, isWaitedFor ? policy.limit : policy.limit / 2) else { return nil }
        starts.append(now)
        lastRefreshID += 1
        refreshID = lastRefreshID
        guard let current, !isWaitedFor else { return .refresh(current, refreshID: lastRefreshID) }
        return .useAndRefresh(current, refreshID: lastRefreshID)
    }

    private func tooMany(_ now: SystemTime.Instant) -> Step {
        .tooMany(retryAfter: max(.zero, policy.window - (starts.first ?? now).duration(to: now)))
    }

    /// Records the result of a refresh, and returns the change that it makes.
    mutating func finish(_ number: UInt64, with outcome: RefreshOutcome) -> Outcome {
        guard number == refreshID, arrived == nil else { return .discarded }
        switch outcome {
        case .tokens(var tokens):
            // A server that does not rotate refresh tokens sends none, and the old one remains valid (RFC 6749 §6).
            tokens.refreshToken = tokens.refreshToken ?? current?.tokens.refreshToken
            tokens.session = current?.tokens.session ?? DigestAuthenticator.randomNonce()
            arrived = tokens
            return .arrived
        case .refused:
            _ = signOut()
            return .signedOut
        case .failed:
            refreshID = nil
            return .kept
        }
    }

    /// Records the tokens that another process has stored. Returns false if they have expired, so that the refresh
    /// continues.
    mutating func finishElsewhere(_ number: UInt64, _ tokens: Tokens, date: Date) -> Bool {
        issue(tokens, at: date)
        if let end = current?.life?.end, date >= end { return false }
        refreshID = nil
        return true
    }

    /// Makes the arrived tokens current, once they have been stored or storing has failed. Returns false if the refresh
    /// was cancelled.
    mutating func commit(_ number: UInt64, date: Date) -> Bool {
        guard number == refreshID, let tokens = arrived else { return false }
        (refreshID, arrived) = (nil, nil)
        issue(tokens, at: date)
        return true
    }

    /// Returns whether the refresh is in progress: it is not cancelled, and its result has not arrived.
    func isUnderWay(_ number: UInt64) -> Bool { number == refreshID && arrived == nil }

    /// Whether the result of a refresh is being stored.
    var isStoring: Bool { arrived != nil }

    /// The tokens to store: those that have arrived, or otherwise the current ones.
    var newest: Tokens? { arrived ?? current?.tokens }

    /// Records the tokens of a sign-in, or tokens that were loaded, and cancels a refresh in progress.
    ///
    /// - `isKept`: whether the tokens were loaded and keep their session. Other tokens begin a new session.
    mutating func signIn(_ tokens: Tokens, isKept: Bool = false, date: Date) {
        starts = []
        _ = signOut()
        var tokens = tokens
        if !isKept || tokens.session == nil { tokens.session = DigestAuthenticator.randomNonce() }
        issue(tokens, at: date)
    }

    /// Signs out and cancels a refresh in progress. Returns whether there were tokens.
    mutating func signOut() -> Bool {
        (refreshID, arrived) = (nil, nil)
        firstVersion = lastVersion + 1
        defer { current = nil }
        return current != nil
    }

    /// The principal of the signed-in account; `.anonymous` when signed out. Refreshes do not change it.
    var principal: Principal {
        current?.tokens.session.map { .known("session-" + $0, isLasting: true) } ?? .anonymous
    }

    /// Records that the server's clock showed `serverDate` at the local time `date`. Differences under two seconds are
    /// ignored, because dates have whole seconds and responses take time.
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
