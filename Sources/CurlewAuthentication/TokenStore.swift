// SPDX-License-Identifier: MIT

public import CurlewCore

/// A store for the tokens of one account. It refreshes the tokens once for all calls, and keeps them between launches.
///
///     let store = TokenStore(.file("/var/lib/app/tokens.json"))
///     let client = APIClient(baseURL: "https://api.example.com", pipeline: .standard.adding(
///         .bearer(store) { try await $0.client.send(.refresh($0.tokens.refreshToken)) }))
///     try await store.signIn(try await client.withoutCredentials().send(.login(name, password)))
///
/// Guarantees:
/// - At most one refresh is in progress, and all calls that need new tokens wait for it. If the server refuses older
///   tokens, the call is sent again with the current tokens, without a refresh.
/// - A refresh continues when the calls that wait for it end. A call waits at most `TokenStore.RefreshPolicy.timeout`;
///   the refresh may take `TokenStore.RefreshPolicy.maximumRefreshTime`. Later calls wait for the same refresh.
/// - New tokens are stored before any call uses them. If they cannot be stored, calls use them anyway, and `problem`
///   contains the error.
/// - A sign-out or another sign-in during a refresh discards its result, and the calls that wait for it fail with
///   `.notAuthenticated(.signedOut)`. A call is never sent, not even a second time, with the tokens of a sign-in other
///   than the one that it began with.
/// - Only an invalid or missing refresh token signs the account out, once, and all waiting calls throw
///   `.notAuthenticated(.refreshRefused)`. The server reports an invalid refresh token with `invalid_grant` (RFC 6749
///   §5.2: JSON with status 400; status 401 or 403, and GitHub's `bad_refresh_token`, are also accepted). A custom
///   refresh closure throws `NetworkError(.notAuthenticated(.refreshRefused))`. After any other failure, such as a 401
///   without that code, a page from a proxy, 429 or 5xx, the tokens are kept. All waiting calls then throw
///   `.notAuthenticated(.refreshFailed)`, or the error itself if it is of the connection, a timeout or `.storage`.
/// - Processes that share a `.file` refresh the tokens once for all of them. A process that waits continues with the
///   tokens that another process has stored. By the end of its wait, it also detects a sign-out or another sign-in in
///   the other process.
///
/// Share one store among all clients of an account.
public actor TokenStore {
    /// A change of the account or its tokens, as `changes()` reports it.
    public enum Change: Sendable, Equatable {
        /// The account signed in, in this process or in another one that shares the tokens.
        case signedIn
        /// The tokens were refreshed, also by another process, or obtained without a sign-in.
        case refreshed
        /// The account was signed out by the app, by another process, or because its tokens cannot be refreshed.
        case signedOut
        /// The tokens could not be stored or removed; `TokenStore.problem` contains the error.
        case notKept
    }

    /// The operation that refreshes tokens, or obtains them.
    struct Renewal: Sendable {
        /// Whether tokens can also be obtained when there are none yet.
        var canObtain = false
        let run: @Sendable (Tokens?) async throws -> Tokens
    }

    let persistence: (any TokenStore.Persistence)?
    let policy: TokenStore.RefreshPolicy
    let time: any TimeSource
    var state: TokenState
    var loading: SharedResult<Void>?
    var isLoaded = false
    /// The refresh in progress, for which calls wait; nil if there is none.
    var flight: RefreshFlight?
    var lastFailure: NetworkError?
    var isSaving = false
    /// The result of the next write; nil if nothing has changed since the last write began.
    var nextSave: SharedResult<Void>?
    /// The error (`.storage`) of the last attempt to store or remove the tokens; nil if there was none. Tokens that
    /// could not be stored are lost when the process ends; tokens that could not be removed are loaded again.
    public internal(set) var problem: NetworkError?
    /// The stored tokens, as far as this process knows.
    var kept: Tokens?
    /// Whether the current state is the result of a refresh, not of a call by the app. The result of a refresh must not
    /// overwrite a sign-in or sign-out of another process. Tokens that were obtained without a sign-in may replace any.
    var isFromRefresh = false
    private var observers: [UInt64: AsyncStream<Change>.Continuation] = [:]
    private var lastObserver: UInt64 = 0
    private nonisolated let published: Locked<Principal>

    /// Creates a store. It loads the stored tokens when it is first used.
    ///
    /// - `persistence`: the storage of the tokens. Default nil: the tokens exist as long as the store.
    /// - `policy`: when tokens are refreshed, and how long calls wait. Default `.standard`.
    /// - `time`: the time source for expiry and limits. Default the system's clocks.
    public init(
        _ persistence: (any TokenStore.Persistence)? = nil, policy: TokenStore.RefreshPolicy = .standard,
        time: any TimeSource = SystemTime()
    ) {
        self.persistence = persistence
        self.policy = policy
        self.time = time
        state = TokenState(policy)
        isLoaded = persistence == nil
        published = Locked(isLoaded ? .anonymous : .unknown)
    }

    /// The current tokens, expired or not; nil when signed out. The first access loads the stored tokens. Throws
    /// `.storage` if they cannot be read within `TokenStore.RefreshPolicy.timeout`, and `.cancelled`.
    public var tokens: Tokens? {
        get async throws(NetworkError) {
            do {
                try await load(until: SystemTime.Deadline(policy.timeout, after: time.now), on: time)
            } catch is DeadlinePassed {
                throw NetworkError(.storage, detail: "The tokens were not read within \(policy.timeout.brief).")
            } catch {
                throw NetworkError(error)
            }
            return state.current?.tokens
        }
    }

    /// Signs in: stores `tokens`, and uses them for calls from now on. Calls that wait for a refresh fail with
    /// `.notAuthenticated(.signedOut)`, because they may belong to another user.
    ///
    /// Throws `.notAuthenticated(.sourceFailed)`, without a change, if the access token is empty or a token has more
    /// than 64 KiB. Throws the errors of `save()` if the tokens are not stored; calls use them anyway.
    public func signIn(_ tokens: Tokens) async throws(NetworkError) {
        try tokens.check()
        adopt(tokens)
        try await save()
    }

    /// Signs out: discards the tokens and removes them from the storage. The server may still accept copies of them.
    /// Calls that wait for a refresh fail with `.notAuthenticated(.signedOut)`.
    ///
    /// Throws the errors of `save()` if the stored tokens are not removed. The account is signed out anyway; the next
    /// launch may load them.
    public func signOut() async throws(NetworkError) {
        adopt(nil)
        try await save()
    }

    /// Returns a stream of the changes from now on. It buffers 16 changes: an observer that does not keep up loses the
    /// oldest. The stream ends when the store is deallocated.
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
    /// The principal of the signed-in account: `.anonymous` when signed out, `.unknown` before the stored tokens have
    /// been loaded. Refreshes and restarts keep the principal; each sign-in creates a new one. Needs no `await`.
    ///
    /// Use the principal to remove the cached responses of a user who signs out:
    ///
    ///     let principal = store.principal
    ///     try await store.signOut()
    ///     try await cache.remove(.principal(principal))
    public nonisolated var principal: Principal { published.withLock { $0 } }

    /// Makes `tokens` current, those of a sign-in; nil signs out. Calls that wait for a refresh fail, because they
    /// belong to the earlier sign-in.
    ///
    /// - `isKept`: whether another process has stored the tokens. They keep their session.
    func adopt(_ tokens: Tokens?, isKept: Bool = false) {
        (isLoaded, isFromRefresh, lastFailure) = (true, false, nil)
        let wasSignedIn = state.current != nil
        if let tokens { state.signIn(tokens, isKept: isKept, date: time.date) } else { _ = state.signOut() }
        publishPrincipal()
        flight?.end(tokens == nil ? Self.signedOut : Self.replaced, in: self)
        if tokens != nil || wasSignedIn { announce(tokens == nil ? .signedOut : .signedIn) }
    }

    static let signedOut = NetworkError(
        .notAuthenticated(.signedOut), detail: "The account was signed out while the call waited.",
        hint: "Sign in again.")
    private static let replaced = NetworkError(
        .notAuthenticated(.signedOut), detail: "The user signed in again while the call waited for tokens.",
        hint: "Send the call again if it belongs to the new session.")

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

extension TokenStore {
    /// An event of a token store's refresh. Observers receive it as `ExchangeEvent.feature`, for the call that started
    /// the refresh. The requests of the refresh are separate calls with their own events.
    ///
    /// A refresh may continue after the call that started it, so the event may follow the end of the call.
    @nonexhaustive
    public enum Event: ExchangeEvent.Feature {
        /// The refresh began.
        case began
        /// New tokens arrived after this duration.
        case renewed(after: Duration)
        /// The refresh failed with this error, after this duration.
        case failed(NetworkError, after: Duration)

        /// The name of the kind of event: `token.began`, `token.renewed` or `token.failed`.
        public var name: String {
            switch self {
            case .began: "token.began"
            case .renewed: "token.renewed"
            case .failed: "token.failed"
            }
        }

        /// A description on one line. It contains no token.
        public var description: String {
            switch self {
            case .began: "a refresh of the tokens began"
            case .renewed(let time): "the tokens were refreshed in \(time.brief)"
            case .failed(let error, let time): "the refresh of the tokens failed after \(time.brief): \(error.label)"
            }
        }
    }
}
