// SPDX-License-Identifier: MIT

public import CurlewCore

/// The tokens of one account: refreshed once for all calls, and stored between launches.
///
///     let store = TokenStore(.file("/var/lib/app/tokens.json"))
///     let client = APIClient(baseURL: "https://api.example.com", pipeline: .standard.adding(
///         .bearer(store) { try await $0.client.send(.refresh($0.tokens.refreshToken)) }))
///     try await store.signIn(try await client.send(.login(name, password)))
///
/// Every set of tokens has a version. Guarantees:
/// - At most one refresh for each version, however many calls need it; they wait for the same refresh. A call that is
///   refused with older tokens is sent again with the present ones, without a refresh.
/// - A refresh does not end with the calls that wait for it. A call waits for `TokenStore.RefreshPolicy.timeout` at
///   most. The refresh continues for `TokenStore.RefreshPolicy.longestRefresh`, later calls wait for the same refresh,
///   and its tokens are stored.
/// - New tokens are stored before any call uses them. If storing fails, they are used all the same: see `problem`.
/// - Signing out, or in again, during a refresh discards the result of the refresh, and calls that wait for it fail
///   with `.notAuthenticated(.signedOut)`. No call is sent, or repeated, with the tokens of another sign-in than the
///   one it began with.
/// - Only an invalid refresh token signs out, once, and all waiting calls receive the same error. The server reports it
///   with `invalid_grant` (RFC 6749 §5.2: JSON with status 400; 401, 403 and GitHub's `bad_refresh_token` count too),
///   and a custom refresh closure by throwing `NetworkError(.notAuthenticated(.refreshRefused))`. Any other failure
///   keeps the tokens (a 401 without that code, a page of a proxy, 429, 5xx), and all waiting calls receive that error.
/// - Processes that share a `.file` refresh once between them. A process that waits continues with the tokens that the
///   other has stored, and detects a sign-out or another sign-in there at the latest then.
///
/// Share one store among all clients of an account.
public actor TokenStore {
    /// A change of an account.
    public enum Change: Sendable, Equatable {
        /// An account signed in.
        case signedIn
        /// The tokens were refreshed.
        case refreshed
        /// The account was signed out, by the app or because the server refused to refresh the tokens.
        case signedOut
        /// The present tokens could not be stored; `TokenStore.problem` contains the reason.
        case notKept
    }

    /// How tokens are refreshed.
    struct Renewal: Sendable {
        /// Whether tokens can also be obtained when there are none yet.
        var canObtain = false
        let run: @Sendable (Tokens?) async throws -> Tokens
    }

    let persistence: any TokenPersistence
    let policy: TokenStore.RefreshPolicy
    let time: any TimeSource
    var state: TokenState
    var loading: SharedResult<Void>?
    var isLoaded = false
    /// The results that calls wait for, by refresh. A refresh that takes longer than calls wait has no entry until the
    /// next call.
    var refreshes: [UInt64: SharedResult<Void>] = [:]
    var lastFailure: NetworkError?
    var isSaving = false
    /// The end of the next write; nil if nothing has changed since the last write began.
    var nextSave: SharedResult<Void>?
    /// The reason why the present tokens could not be stored, `.storage`: they are lost when the process ends. Nil if
    /// there is none, and again after the next successful change or `save()`.
    public internal(set) var problem: NetworkError?
    /// The stored tokens, as far as this process knows.
    var kept: Tokens?
    /// Whether the present state is the result of a refresh, not from the app. It must not undo what another process
    /// has done since.
    var isFromRefresh = false
    /// Whether the tokens were obtained without a sign-in. They may then replace any stored tokens.
    var isObtained = false
    private var observers: [UInt64: AsyncStream<Change>.Continuation] = [:]
    private var lastObserver: UInt64 = 0
    private nonisolated let published: Locked<Principal>

    /// Creates a store that loads the stored tokens when it is first used.
    ///
    /// - `time`: the time source for expiry and limits.
    public init(
        _ persistence: any TokenPersistence = .memory, policy: TokenStore.RefreshPolicy = .standard,
        time: any TimeSource = SystemTime()
    ) {
        self.persistence = persistence
        self.policy = policy
        self.time = time
        state = TokenState(policy)
        isLoaded = persistence is VolatileTokens
        published = Locked(isLoaded ? .anonymous : .unknown)
    }

    /// The present tokens; nil when signed out. Throws `.storage` if the stored tokens cannot be read.
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

    /// Uses `tokens` for calls from now on. Calls that wait for a refresh fail with `.notAuthenticated(.signedOut)`,
    /// because they may belong to another user.
    ///
    /// Throws `.storage` if the tokens cannot be stored; they are used all the same.
    public func signIn(_ tokens: Tokens) async throws(NetworkError) {
        isLoaded = true
        isFromRefresh = false
        state.signIn(tokens, date: time.date)
        publishPrincipal()
        failPendingRefreshes(with: Self.replaced)
        announce(.signedIn)
        try await save()
    }

    /// Discards the tokens; `signOut(revoking:with:)` also revokes them. Calls that wait for a refresh fail with
    /// `.notAuthenticated(.signedOut)`.
    ///
    /// Throws `.storage` if the stored tokens cannot be removed.
    public func signOut() async throws(NetworkError) {
        isLoaded = true
        isFromRefresh = false
        let wasSignedIn = state.signOut()
        publishPrincipal()
        failPendingRefreshes(with: Self.signedOut)
        if wasSignedIn { announce(.signedOut) }
        try await save()
    }

    /// Returns the changes from now on. The stream ends with the store; an observer that does not keep up loses the
    /// oldest of 16 changes.
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
    /// The signed-in principal: unchanged by refreshes and restarts, different after the next sign-in. `.anonymous`
    /// when signed out, `.unknown` before the stored tokens have been loaded. Reading it does not wait for the actor.
    ///
    /// Use it to remove the cached responses of a user who signs out:
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
