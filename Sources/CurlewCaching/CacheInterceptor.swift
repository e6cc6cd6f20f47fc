// SPDX-License-Identifier: MIT

package import CurlewCore
import CurlewHTTP

/// Stores responses and returns them while they may be used. For the rules, see `.caching(store:options:)`.
package struct CacheInterceptor: Interceptor {
    package let store: any HTTPCache.Store
    package let rules: HTTPCache.Options

    let traffic = CacheFetches()
    let pendingRemovals: PendingRemovals
    let changing = ChangingFields()
    /// The store, if it is a `HTTPCache.MemoryStore`, which needs no time limit; nil for other stores.
    let memory: HTTPCache.MemoryStore?

    package init(store: any HTTPCache.Store = HTTPCache.MemoryStore(), rules: HTTPCache.Options = .standard) {
        self.store = store
        self.rules = rules
        pendingRemovals = PendingRemovals.of(store)
        memory = store as? HTTPCache.MemoryStore
    }

    /// The principal is `.anonymous`, because the cache attaches no credential, and uses a stored response only for its
    /// principal.
    package var traits: InterceptorTraits {
        var traits = InterceptorTraits(.caching)
        traits.warning = warning(in:)
        traits.uniqueKind = ("caches", "the outer cache stores what the inner cache has stored")
        return traits
    }

    package func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        if next.context.options.isLive { return try await next(request) }
        // An outer interceptor may have replaced the request by a new one that lacks the declared secrets.
        if request.secrets.isEmpty, !next.context.secrets.isEmpty {
            return try await intercept(request.knowing(next.context.secrets), next: next)
        }
        let content: String?
        switch CacheRequest.content(of: request, next.context.options) {
        case .success(let found): content = found
        case .failure(let cause): return try await pass(request, next, because: cause)
        }
        if next.context.options.cachePolicy == .noStore {
            return try await pass(request, next, because: .callStoresNothing)
        }
        await next.prepare()
        let principal = next.principal(of: request, key: store.principalKey)
        switch principal {
        case .unknown:
            return try await pass(request, next, because: .principalUnknown(next.unknownPrincipals(for: request)))
        case .known(_, isLasting: false) where store.isLasting:
            return try await pass(request, next, because: .principalOfProcess)
        default: break
        }
        if next.lacksCredential(request) {
            return try await pass(request, next, because: .credentialMissing)
        }
        let key = HTTPCache.Entry.Key(
            target: rules.target(of: request.urlString), content: content, principal: principal.text,
            secrets: request.secrets)
        let incoming = CacheRequest(request, key, policy: next.context.options.cachePolicy, rules: rules)
        return try await CacheExchange(incoming: incoming, principal: principal, next: next, cache: self).run()
    }

    /// Returns a warning if the cache cannot be used, because the principal of some interceptors is unknown, or because
    /// request fields that may identify a user have changed with each call so far; otherwise nil. The warning names
    /// them.
    func warning(in setup: Pipeline.Environment) -> String? {
        guard !setup.unknownPrincipals.isEmpty else {
            let names = changing.names
            if names.isEmpty { return nil }
            return "\(self) finds nothing, because \(names.inWords) may identify a user and changed with each call. "
                + "If no response depends on that, declare it in APIClient.Configuration.fields.harmless."
        }
        return
            "\(self) stores nothing, because \(setup.unknownPrincipals.inWords) cannot name the principal of a call. "
            + "Name the user (principal:), pass changesPrincipal: false where no response depends on it, "
            + "or put it outside of the cache."
    }

    /// Sends the request without using the store, and removes the stored responses that an unsafe request may have
    /// changed. A safe request that accepts only a stored response receives a 504 instead.
    private func pass(_ request: HTTPRequest, _ next: Next, because cause: CacheReason) async throws -> HTTPResponse {
        let context = next.context
        if context.options.cachePolicy == .onlyIfCached || CacheControl(request.headers).contains("only-if-cached"),
            request.method.isSafe
        {
            return CacheExchange.refusal(of: request, because: cause, in: context)
        }
        var sent = request
        if context.options.cachePolicy == .noStore { sent.addCacheDirective("no-store") }
        let isRead = request.method.isSafe || request.method == .post && context.options.cacheKeyIncludesBody
        var response = try await isRead ? next(sent) : change(by: sent, next)
        response.setCacheStatus(HTTPCache.Status(.network, cause), in: context)
        return response
    }

    /// Sends an unsafe request and removes the stored responses that it may have changed, even if the response to the
    /// request was lost.
    private func change(by request: HTTPRequest, _ next: Next) async throws -> HTTPResponse {
        var context = next.context
        let stamp = SentAttempts(outer: context.sendCheck)
        context.sendCheck = stamp
        let targets: Set<String>
        do {
            let response = try await next(request, context: context)
            targets = StorageDecision.invalidated(by: request, response.status, response.headers)
            if !targets.isEmpty { await invalidate(targets, in: next.context) }
            return response
        } catch {
            if stamp.mayHaveArrived(NetworkError(error)) { await invalidate([request.urlString], in: next.context) }
            throw error
        }
    }

    /// Removes the entries of these URLs. The store then commits no response for them whose lookup preceded the
    /// removal. Entries that the store cannot remove are not used until it has removed them.
    private func invalidate(_ targets: Set<String>, in context: ExchangeContext) async {
        let targets = Set(targets.map(rules.target))
        let number = pendingRemovals.add(targets)
        for target in targets { _ = await remove(.target(target), upTo: number, in: context) }
    }

    /// Makes a pending removal. Returns false if the store fails, or does not respond within the lookup timeout.
    func remove(_ selection: HTTPCache.Removal, upTo number: UInt64, in context: ExchangeContext) async -> Bool {
        do {
            let (store, pendingRemovals) = (store, pendingRemovals)
            try await reach(in: context) {
                _ = try await store.remove(selection)
                pendingRemovals.finish(selection, upTo: number)
            }
            return true
        } catch {
            context.reportStoreFailure(error)
            return false
        }
    }

    /// Runs `work` on the store, and waits no longer than `limit`, by default the lookup timeout, and the call's
    /// deadline. After that the work continues without the caller, and `DeadlinePassed` is thrown. Throws
    /// `CancellationError` if the caller is cancelled. A store in memory has no time limit.
    func reach<Value: Sendable>(
        within limit: Duration? = nil, in context: ExchangeContext,
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        if memory != nil { return try await work() }
        let deadline = context.totalDeadline.earlier(
            SystemTime.Deadline(limit ?? rules.lookupTimeout, after: context.time.now))
        return try await bounded(until: deadline, on: context.time, work)
    }
}

extension CacheInterceptor: CustomStringConvertible {
    /// The name `Caching`, followed by the type of the store unless it is a `HTTPCache.MemoryStore`.
    package var description: String {
        store is HTTPCache.MemoryStore ? "Caching" : "Caching(\(type(of: store)))"
    }
}

extension HTTPRequest {
    /// Adds a directive to `Cache-Control`, unless the caller has already added it.
    mutating func addCacheDirective(_ name: String) {
        if !CacheControl(headers).contains(name) { headers.append(.cacheControl, name) }
    }
}

extension HTTPResponse {
    /// Sets the cache status of the response, and reports it to the observers.
    mutating func setCacheStatus(_ value: HTTPCache.Status, in context: ExchangeContext) {
        facts.standIn = nil
        facts[CacheVerdictKey.self] = value
        context.record(.feature(HTTPCache.Event.decided(value)))
    }
}

extension ExchangeContext {
    /// Reports an error of the store to the observers, except a cancellation.
    func reportStoreFailure(_ error: any Error) {
        guard isObserved else { return }
        if error is CancellationError { return }
        let failure =
            if error is DeadlinePassed {
                NetworkError(
                    .storage, detail: "The cache store did not respond in time.",
                    hint: "The call continued without it. Check whether another process holds the store.")
            } else {
                error as? NetworkError
                    ?? NetworkError(
                        .storage,
                        detail: "The cache store failed: "
                            + NetworkError.quoted("\(error)", upTo: 300, without: secrets),
                        hint: "The call continued without it.", underlying: error)
            }
        record(late: HTTPCache.Event.storeFailed(failure.withholding(secrets)))
    }
}
