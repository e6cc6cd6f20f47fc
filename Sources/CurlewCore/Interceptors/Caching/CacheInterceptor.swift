// SPDX-License-Identifier: MIT

import CurlewHTTP

/// An HTTP cache by RFC 9111: answers from what is stored where that may be done, asks the server where it must be.
///
///     let pipeline = Pipeline.standard.adding(.caching())                       // in memory
///     let store = MemoryCacheStore(byteLimit: 200 << 20)
///     let pipeline = Pipeline.standard.adding(.caching(store: store))           // in a store that you keep
///     try await store.remove(.prefix("https://api.example/films/"))
///
/// What it does is decided by `Cache-Control` and its relatives; `CachePolicy` is what one call may say. Every answer
/// tells where it came from (`response.served`) and why (`response.cacheVerdict`), and observers hear of it.
///
/// - Private by default: what is stored for one principal is used for that principal alone, and where the principal is
///   unknown (`Next.principal(of:)`) nothing is, or public answers only (`CacheRules.sharesPublic`). Each request field
///   counts that is not known to be harmless, and so does each interceptor further in, and the transport: a hook or an
///   interceptor of the app there keeps the cache from storing anything, unless it says otherwise
///   (`changesWhoseAnswer: false`, `Interceptor.principal(of:in:)`). `APIClient.problems` and the verdicts name it.
/// - Bodies stream through. One is stored only if the caller reads it to its end, and it is not over the limits; the
///   caller's pace is kept. Who stops reading leaves nothing behind.
/// - A store that fails never fails a call: the server is asked, and observers get `.cacheStoreFailed`. The exception is
///   a body over 64 KiB whose stored bytes cannot be read on after some have been delivered: reading it throws `.storage`.
/// - A stale answer that is refreshed in the background (`stale-while-revalidate`) costs the caller no wait. The refresh
///   goes on when the caller is gone, for at most `CacheRules.backgroundTimeout`.
public struct CacheInterceptor: ValidatingInterceptor {
    /// Where responses are kept.
    public let store: any CacheStore
    /// What the cache is and how far it goes.
    public let rules: CacheRules

    let traffic = CacheTraffic()
    let debts: CacheDebts
    /// The store if it is in memory and answers at once, so that no time limit is needed.
    let memory: MemoryCacheStore?

    /// A cache over `store`. By default one of its own, in memory, shared by the client and what is derived from it.
    public init(store: any CacheStore = MemoryCacheStore(), rules: CacheRules = .standard) {
        self.store = store
        self.rules = rules
        debts = CacheDebts.of(store)
        memory = store as? MemoryCacheStore
    }

    /// `.caching`.
    public var placement: Placement { .caching }

    /// False: a preview shows the request that would be sent.
    public var runsInPreview: Bool { false }

    /// `.anonymous`: it attaches no credential, and what it stores is kept apart by principal.
    public func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal { .anonymous }

    /// Answers from the store, or runs the rest of the chain and keeps what comes.
    public func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        // An interceptor may have made the request anew.
        if request.secrets.isEmpty, !next.context.secrets.isEmpty {
            return try await intercept(request.knowing(next.context.secrets), next: next)
        }
        let content = CacheQuestion.content(of: request, next.context.options)
        guard case .success(let content) = content else {
            guard case .failure(let refusal) = content else { return try await next(request) }
            return try await pass(request, next, because: refusal.cause)
        }
        if let cause = obstacle(next) { return try await pass(request, next, because: cause) }
        if next.needsPreparation { await next.prepare() }
        let principal = next.principal(of: request, key: key)
        let reservation: CacheCause? =
            switch principal {
            case .unknown: .principalUnknown(next.strangers(to: request))
            case .known(_, isLasting: false) where store.isLasting: .principalOfProcess
            default: nil
            }
        if next.context.authentication.isDemanding, !next.attachesCredential(to: request) {
            return try await pass(request, next, because: .credentialMissing)
        }
        // A client certificate or another server makes even public answers another party's.
        let place = next.place(of: request, key: key)
        if let reservation, !rules.sharesPublic || place == .unknown || (store.isLasting && !place.isLasting) {
            return try await pass(request, next, because: reservation)
        }
        let target = rules.target(of: request.urlString)
        let common = CacheKey(target: target, content: content, principal: place.text, secrets: request.secrets)
        let own = CacheKey(target: target, content: content, principal: principal.text, secrets: request.secrets)
        let question = CacheQuestion(
            request, reservation == nil ? own : common, common: common, reservation: reservation,
            policy: next.context.options.cachePolicy, rules: rules)
        return try await CacheExchange(question, principal, next, self).run()
    }

    /// What credentials are hashed with for the keys of the store; nil for the key of the process.
    var key: PrincipalKey? { store.principalKey.map(PrincipalKey.init(lasting:)) }

    /// A lifetime whose scope is no URL.
    public func problem(in setup: PipelineSetup) -> String? {
        guard let lifetime = rules.lifetimes.first(where: { !$0.isValid }) else { return nil }
        return "\(self) has a lifetime for \"\(lifetime.scope.printable)\", which is no absolute URL without a query. "
            + "Write it as https://host/path."
    }

    /// Names who keeps the cache from keeping what is not public.
    public func warning(in setup: PipelineSetup) -> String? {
        guard !setup.strangers.isEmpty else { return nil }
        return
            "\(self) keeps \(rules.sharesPublic ? "public answers only" : "nothing"), because \(setup.strangers.inWords) cannot tell whose answer a call gets. "
            + "Name the user (principal:), say changesWhoseAnswer: false where no answer depends on it, or put it outside "
            + "of the cache."
    }

    /// Why a call goes past the cache whatever it asks.
    private func obstacle(_ next: Next) -> CacheCause? {
        next.context.options.cachePolicy == .noStore ? .callStoresNothing : nil
    }

    /// Asks the server, and takes note of what that changed there.
    private func pass(_ request: HTTPRequest, _ next: Next, because cause: CacheCause) async throws -> HTTPResponse {
        let context = next.context
        if context.options.cachePolicy == .onlyIfCached || CacheControl(request.headers).contains("only-if-cached"),
            request.method.isSafe
        {
            return CacheExchange.refusal(of: request, because: cause, in: context)
        }
        var asked = request
        if context.options.cachePolicy == .noStore { asked.addCacheDirective("no-store") }
        let isQuestion = request.method.isSafe || request.method == .post && context.options.cacheKeyIncludesBody
        var response = try await isQuestion ? next(asked) : change(by: asked, next)
        response.judge(CacheVerdict(.network, cause), in: context)
        return response
    }

    /// Sends an unsafe request, and removes what it may have changed: also where its answer was lost on the way.
    private func change(by request: HTTPRequest, _ next: Next) async throws -> HTTPResponse {
        var context = next.context
        let stamp = DepartureStamp(outer: context.departure)
        context.departure = stamp
        let targets: Set<String>
        do {
            let response = try await next(request, context: context)
            targets = CacheIntake.invalidated(by: request, response.status, response.headers)
            if !targets.isEmpty { await invalidate(targets, in: next.context) }
            return response
        } catch {
            if stamp.mayHaveArrived(NetworkError(error)) { await invalidate([request.urlString], in: next.context) }
            throw error
        }
    }

    /// Removes what is stored for these URLs; the store sees to it that nothing older takes its place. What it cannot remove
    /// is not used until it can.
    private func invalidate(_ targets: Set<String>, in context: ExchangeContext) async {
        let targets = Set(targets.map(rules.target))
        let number = debts.owe(targets)
        for target in targets { _ = await pay(.target(target), upTo: number, in: context) }
    }

    /// Makes up for a removal. False if the store cannot do it now.
    func pay(_ selection: CacheSelection, upTo number: UInt64, in context: ExchangeContext) async -> Bool {
        do {
            let (store, debts) = (store, debts)
            try await reach(within: rules.lookupTimeout, in: context) {
                _ = try await store.remove(selection)
                debts.settle(selection, upTo: number)
            }
            return true
        } catch {
            context.reportStoreFailure(error)
            return false
        }
    }

    /// Asks the store, and waits no longer than `limit` and the call's deadline; the work goes on by itself then. Throws
    /// `DeadlinePassed` and `CancellationError`. A store in memory answers at once.
    func reach<Value: Sendable>(
        within limit: Duration, in context: ExchangeContext, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        if memory != nil { return try await work() }
        let deadline = context.totalDeadline.earlier(Deadline(limit, after: context.time.now))
        return try await bounded(until: deadline, on: context.time, work)
    }
}

extension CacheInterceptor: CustomStringConvertible {
    /// `Caching`, with the store if it is none in memory.
    public var description: String {
        store is MemoryCacheStore ? "Caching" : "Caching(\(type(of: store)))"
    }
}

extension HTTPRequest {
    /// Says it in `Cache-Control`, unless the caller has said it already.
    mutating func addCacheDirective(_ name: String) {
        if !CacheControl(headers).contains(name) { headers.append(.cacheControl, name) }
    }
}

extension HTTPResponse {
    /// Writes the verdict on the answer, and tells observers.
    mutating func judge(_ value: CacheVerdict, in context: ExchangeContext) {
        verdict = CacheVerdictBox(value)
        context.record(.cacheDecided(value))
    }
}

extension ExchangeContext {
    /// Tells observers of a store's error, which is nobody's error but the store's.
    func reportStoreFailure(_ error: any Error) {
        guard isObserved else { return }
        if error is CancellationError { return }
        if error is DeadlinePassed {
            return record(
                .cacheStoreFailed(
                    NetworkError(
                        .storage, detail: "The cache's store did not answer in time.",
                        hint: "The call went on without it. Look whether another process holds the store.")))
        }
        let failure =
            error as? NetworkError
            ?? NetworkError(
                .storage,
                detail: "The cache's store failed: \(NetworkError.told("\(error)", upTo: 300, without: secrets))",
                hint: "The call went on without it.", underlying: error)
        record(.cacheStoreFailed(failure))
    }
}
