// SPDX-License-Identifier: MIT

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
/// - A refresh does not end with the calls that wait for it. A call waits for `RefreshPolicy.timeout` at most; the
///   refresh goes on for `RefreshPolicy.longestRefresh`, later calls wait for the same one, and its tokens are kept.
/// - New tokens are kept before any call uses them. If they cannot be, they are used all the same: see `problem`.
/// - Signing out, or in again, during a refresh discards what the refresh brings, and who waits for it fails with
///   `.notAuthenticated(.signedOut)`. No call goes out, or is repeated, with the tokens of another sign-in than the one
///   it began with.
/// - Only a refresh token that is not valid any more signs out, once, and all who wait get the same error. The server
///   says so by `invalid_grant` (RFC 6749 §5.2: JSON with status 400; 401, 403 and GitHub's `bad_refresh_token` count
///   too), a refresher of your own by throwing `NetworkError(.notAuthenticated(.refreshRefused))`. Any other failure
///   keeps the tokens (a 401 without that code, a page of a proxy, 429, 5xx), and all who wait get that error.
///
/// - Processes that share a `.file` renew once between them. One that waits goes on with what the other has kept, and
///   hears of a sign-out or another sign-in there at the latest then.
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
        /// The present tokens could not be kept; `TokenStore.problem` says why.
        case notKept
    }

    /// How tokens are renewed.
    struct Renewal: Sendable {
        /// Also when there are none yet.
        var canObtain = false
        let run: @Sendable (Tokens?) async throws -> Tokens
    }

    let persistence: any TokenPersistence
    let policy: RefreshPolicy
    let time: any TimeSource
    var state: TokenState
    var loading: OneShot<Void>?
    var isLoaded = false
    /// What calls wait for, by refresh. A refresh that takes longer than calls wait has no entry until the next call.
    var flights: [UInt64: OneShot<Void>] = [:]
    var lastFailure: NetworkError?
    var isSaving = false
    /// The end of the write that comes next; nil if nothing has changed since the last one began.
    var nextSave: OneShot<Void>?
    /// Why the present tokens could not be kept, `.storage`: they are lost with the process. Nil when all is well, and
    /// again after the next change or `save()` that succeeds.
    public internal(set) var problem: NetworkError?
    /// What the place of the tokens holds, as far as this process knows.
    var kept: Tokens?
    /// The present state comes from a refresh, not from the app: it must not undo what another process has done since.
    var isFromRefresh = false
    /// The tokens are obtained, not somebody's sign-in: they may be kept over anything.
    var isObtained = false
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
        get async throws(NetworkError) {
            do {
                try await load(until: Deadline(policy.timeout, after: time.now), on: time)
            } catch is DeadlinePassed {
                throw NetworkError(.storage, detail: "The tokens were not read within \(policy.timeout.brief).")
            } catch {
                throw NetworkError(error)
            }
            return state.current?.tokens
        }
    }

    /// From now on calls use `tokens`. Calls that wait for a refresh fail with `.notAuthenticated(.signedOut)`: they may
    /// be another person's.
    ///
    /// Throws `.storage` if they cannot be kept; they are used all the same.
    public func signIn(_ tokens: Tokens) async throws(NetworkError) {
        isLoaded = true
        isFromRefresh = false
        state.signIn(tokens, date: time.date)
        publishPrincipal()
        ground(with: Self.replaced)
        announce(.signedIn)
        try await save()
    }

    /// Forgets the tokens; `signOut(revoking:with:)` also makes them worthless. Calls that wait for a refresh fail with
    /// `.notAuthenticated(.signedOut)`.
    ///
    /// Throws `.storage` if they cannot be removed from where they are kept.
    public func signOut() async throws(NetworkError) {
        isLoaded = true
        isFromRefresh = false
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
    /// Who is signed in: the same through all refreshes and restarts, another one after the next sign-in. `.anonymous`
    /// when signed out, `.unknown` before what was kept has been loaded. Does not wait for the actor.
    ///
    /// What a cache has stored for somebody who signs out can be removed with it:
    ///
    ///     let principal = tokens.principal
    ///     try await tokens.signOut()
    ///     try await cache.remove(.party(principal))
    public nonisolated var principal: Principal { published.withLock { $0 } }

    func publishPrincipal() {
        let principal = state.principal
        published.withLock { $0 = principal }
    }

    func announce(_ change: Change) {
        for observer in observers.values { observer.yield(change) }
    }

    private func removeObserver(_ number: UInt64) {
        observers[number] = nil
    }
}
