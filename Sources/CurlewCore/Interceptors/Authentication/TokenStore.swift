// SPDX-License-Identifier: MIT

import CurlewHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The tokens of one account: signed in or out, renewed once for all calls, kept between launches.
///
///     let store = TokenStore(.file("/var/lib/app/tokens.json"))
///     let client = APIClient(baseURL: "https://api.example.com", pipeline: .standard.adding(
///         .bearer(store) { try await $0.client.send(.refresh($0.tokens.refreshToken)) }))
///     try await store.signIn(try await client.send(.login(name, password)))
///
/// Every set of tokens has a version. What the store guarantees:
/// - One refresh for each version at most, however many calls need it; they wait for the same one. A call that is
///   refused with older tokens is sent again with the present ones, without a refresh.
/// - A refresh does not end with the call that began it, and never longer than `RefreshPolicy.timeout` is waited.
/// - New tokens are saved before the calls that wait for them go on.
/// - Signing out, or in again, during a refresh discards what the refresh brings.
/// - A refresh that the server refuses (400, 401, or `.notAuthenticated`) signs out once, and all who wait get the same
///   error. Any other failure keeps the tokens, and all who wait get that error.
///
/// Share one store among all clients of an account.
public actor TokenStore {
    /// What happened to an account.
    public enum Change: Sendable, Equatable {
        /// Somebody signed in.
        case signedIn
        /// The tokens were renewed.
        case refreshed
        /// Signed out, by the app or because the server would not renew the tokens.
        case signedOut
    }

    /// How tokens are renewed.
    struct Renewal: Sendable {
        /// Also when there are none yet.
        var canObtain = false
        let run: @Sendable (Tokens?) async throws -> Tokens
    }

    let persistence: any TokenPersistence
    private let policy: RefreshPolicy
    let time: any TimeSource
    var state: TokenState
    var loading: OneShot<Void>?
    var isLoaded = false
    private var flights: [UInt64: OneShot<IssuedTokens?>] = [:]
    var isSaving = false
    var unsaved: [OneShot<Void>] = []
    private var observers: [UInt64: AsyncStream<Change>.Continuation] = [:]
    private var lastObserver: UInt64 = 0
    private nonisolated let published: Locked<Principal>

    /// A store that loads what was kept when it is first asked.
    ///
    /// - `time`: what expiry and limits are measured with.
    public init(
        _ persistence: any TokenPersistence = .memory, policy: RefreshPolicy = .standard,
        time: any TimeSource = SystemTime()
    ) {
        self.persistence = persistence
        self.policy = policy
        self.time = time
        state = TokenState(policy)
        isLoaded = persistence is VolatileTokens
        published = Locked(isLoaded ? .anonymous : .unknown)
    }

    /// The present tokens; nil when signed out. Throws `.storage` if what was kept cannot be read.
    public var tokens: Tokens? {
        get async throws {
            try await load()
            return state.current?.tokens
        }
    }

    /// From now on calls use `tokens`.
    ///
    /// Throws `.storage` if they cannot be kept; they are used all the same.
    public func signIn(_ tokens: Tokens) async throws {
        isLoaded = true
        state.signIn(tokens, date: time.date)
        publishPrincipal()
        ground(with: nil)
        announce(.signedIn)
        try await save()
    }

    /// Forgets the tokens. Calls that wait for a refresh fail with `.notAuthenticated(.signedOut)`.
    ///
    /// Throws `.storage` if they cannot be removed from where they are kept.
    public func signOut() async throws {
        isLoaded = true
        let wasSignedIn = state.signOut()
        publishPrincipal()
        ground(with: Self.signedOut)
        if wasSignedIn { announce(.signedOut) }
        try await save()
    }

    /// What happens from now on. Ends with the store; an observer that does not keep up loses the oldest of 16 changes.
    public func changes() -> AsyncStream<Change> {
        let (stream, continuation) = AsyncStream.makeStream(of: Change.self, bufferingPolicy: .bufferingNewest(16))
        lastObserver += 1
        let number = lastObserver
        observers[number] = continuation
        continuation.onTermination = { [weak self] _ in Task { await self?.removeObserver(number) } }
        return stream
    }

    deinit {
        for observer in observers.values { observer.finish() }
    }
}

extension TokenStore {
    /// The tokens for a call; nil when signed out, and when they were refused and nothing renews them.
    ///
    /// - `version`: of the tokens that the server has just refused.
    /// - `deadline`: how long the call waits for a refresh.
    func issued(
        refused version: UInt64? = nil, until deadline: Deadline, by renewal: Renewal?
    ) async throws -> IssuedTokens? {
        try await load()
        let step = state.step(
            refused: version, canRefresh: renewal != nil, canObtain: renewal?.canObtain ?? false, now: time.now,
            date: time.date)
        switch step {
        case .use(let issued): return issued
        case .useAndRefresh(let issued, let flight):
            if let renewal { start(flight, issued.tokens, renewal) }
            return issued
        case .refresh(let issued, let flight):
            guard let renewal else { return nil }
            start(flight, issued?.tokens, renewal)
            return try await landing(of: flight, until: deadline)
        case .wait(let flight): return try await landing(of: flight, until: deadline)
        case .signedOut: return nil
        case .giveUp: return nil
        case .tooMany(let wait):
            throw NetworkError(
                .notAuthenticated(.tooManyRefreshes),
                detail: "The tokens were renewed \(policy.limit) times within \(policy.window.brief), and are refused "
                    + "again. The next refresh is possible in \(wait.brief).",
                hint:
                    "The server refuses tokens that it has just issued. Look at its clock and at the token's audience.")
        }
    }

    /// The same for a call that does not wait: the refresh begins for those that follow.
    func refuse(_ version: UInt64, by renewal: Renewal?) {
        let step = state.step(
            refused: version, canRefresh: renewal != nil, canObtain: renewal?.canObtain ?? false, now: time.now,
            date: time.date)
        if case .refresh(let issued, let flight) = step, let renewal { start(flight, issued?.tokens, renewal) }
    }

    /// The answer to a call with `issued` told the server's time.
    func learn(serverDate: Date) {
        state.learn(serverDate: serverDate, at: time.date)
    }

    private func start(_ number: UInt64, _ tokens: Tokens?, _ renewal: Renewal) {
        flights[number] = OneShot()
        let (time, timeout) = (time, policy.timeout)
        // Detached, because nobody's cancellation ends it: the server may have exchanged the refresh token already.
        Task.detached {
            let result = OneShot<Tokens>()
            let work = Task.detached {
                do {
                    result.finish(.success(try await renewal.run(tokens)))
                } catch {
                    result.finish(.failure(error))
                }
            }
            let outcome: Result<Tokens, any Error>
            do {
                outcome = .success(try await result.wait(until: Deadline(timeout, after: time.now), on: time))
            } catch {
                // One that does not end when told to is left alone.
                work.cancel()
                outcome = .failure(error)
            }
            await self.land(number, outcome)
        }
    }

    private func land(_ number: UInt64, _ result: Result<Tokens, any Error>) async {
        let (landing, failure) = Self.landing(result)
        let outcome = state.land(number, with: landing, date: time.date)
        guard outcome != .discarded else { return }
        publishPrincipal()
        var issued: IssuedTokens?
        if case .renewed(let tokens) = outcome {
            issued = tokens
            announce(.refreshed)
        }
        if outcome == .signedOut { announce(.signedOut) }
        if outcome != .kept { try? await save() }
        let waiting = flights.removeValue(forKey: number)
        waiting?.finish(failure.map { .failure($0) } ?? .success(issued))
    }

    private func landing(of number: UInt64, until deadline: Deadline) async throws -> IssuedTokens? {
        guard let flight = flights[number] else { return state.current }
        // Another sign-in took the place of the flight: whatever is current counts.
        return try await flight.wait(until: deadline, on: time) ?? state.current
    }

    private static func landing(_ result: Result<Tokens, any Error>) -> (TokenState.Landing, NetworkError?) {
        switch result {
        case .success(let tokens): return (.tokens(tokens), nil)
        case .failure(let error):
            var failure = NetworkError(error)
            let isFinal =
                switch failure.reason {
                case .status(let status): status.code == 400 || status.code == 401
                case .notAuthenticated: true
                default: false
                }
            guard isFinal else {
                if failure.isCancelled { failure.reason = .connectionLost(.requestMayHaveArrived) }
                failure.detail = "The tokens could not be renewed. " + failure.detail
                return (.failed, failure)
            }
            return (
                .refused,
                NetworkError(
                    .notAuthenticated(.refreshRefused), detail: "The server does not renew the tokens any more.",
                    hint: "Sign in again.", underlying: failure)
            )
        }
    }

    /// Who is signed in, for those that cannot wait for the actor; `.unknown` before the first load.
    nonisolated var principal: Principal { published.withLock { $0 } }

    func publishPrincipal() {
        let principal = state.principal
        published.withLock { $0 = principal }
    }

    static let signedOut = NetworkError(
        .notAuthenticated(.signedOut), detail: "The account was signed out while the call waited.",
        hint: "Sign in again.")

    /// Takes all flights off: whoever waits goes on with the present tokens, or fails.
    private func ground(with error: NetworkError?) {
        let grounded = flights.values
        flights = [:]
        for flight in grounded { flight.finish(error.map { .failure($0) } ?? .success(nil)) }
    }

    private func announce(_ change: Change) {
        for observer in observers.values { observer.yield(change) }
    }

    private func removeObserver(_ number: UInt64) {
        observers[number] = nil
    }
}
