// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// One call through the cache. It carries out the decisions of `CacheDecision` and `StorageDecision`.
struct CacheExchange: Sendable {
    let incoming: CacheRequest
    let principal: Principal
    /// The rest of the pipeline, with the context of the call or of a background revalidation.
    var next: Next
    let cache: CacheInterceptor
    /// Whether this is a background revalidation. No caller waits for its response, so stored bodies are not opened.
    var isRefresh = false

    init(_ incoming: CacheRequest, _ principal: Principal, _ next: Next, _ cache: CacheInterceptor) {
        self.incoming = incoming
        self.principal = principal
        self.next = next
        self.cache = cache
    }

    var context: ExchangeContext { next.context }

    var store: any CacheStore { cache.store }

    /// Runs `work` on the store, within the lookup timeout.
    func reach<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        try await cache.reach(within: cache.rules.lookupTimeout, in: context, work)
    }

    /// Runs `work`, which changes the store, and waits for it at most `CacheConfiguration.commitTimeout`. Slower work
    /// continues in the background. An error is reported to the observers, not thrown.
    func change(_ work: @escaping @Sendable () async throws -> Void) async {
        do {
            try await cache.reach(within: cache.rules.commitTimeout, in: context) { [context] in
                do { try await work() } catch { context.reportStoreFailure(error) }
            }
        } catch {
            // The commit timeout has passed, or the call was cancelled. The work continues in the background.
        }
    }

    /// Returns the response to the request. Looks up the stored responses, decides what to do, and carries out the
    /// decision.
    ///
    /// - `waits`: how many times the call has waited for a validation by another call.
    func run(waits: Int = 0) async throws -> HTTPResponse {
        let found: StoredResponse.Lookup
        do {
            found = if let known = candidatesAtOnce() { known } else { try await candidates() }
        } catch {
            try Task.checkCancellation()
            if context.totalDeadline.hasPassed(at: context.time.now) { throw DeadlinePassed() }
            context.reportStoreFailure(error)
            if incoming.takesOnlyStored { return refusal(because: .storeFailed) }
            return try await sendUncached(because: .storeFailed)
        }
        if incoming.key.principal != nil, !found.variants.isEmpty { cache.changing.found() }
        switch CacheDecision.about(incoming, found.variants, at: context.time.date) {
        case .serve(let choice, let refreshes):
            let id = choice.stored.id
            let refresh = refreshes ? cache.traffic.beginRefresh(id, limit: incoming.rules.backgroundLimit) : nil
            guard let response = await serve(refresh.map { choice.refreshed($0) } ?? choice) else {
                if refresh == .begun { cache.traffic.endRefresh(id) }
                if incoming.takesOnlyStored { return refusal(because: .entryIsGone) }
                return try await fetch(found, standIn: nil, because: .entryIsGone)
            }
            if refresh == .begun { refreshInBackground(choice, found) }
            return response
        case .revalidate(let choice, let conditional):
            return try await validate(choice, conditional, found, waits: waits)
        case .fetch(let standIn, let cause):
            let isMiss = cause == .nothingStored && incoming.key.principal != nil
            return try await fetch(
                found, standIn: standIn,
                because: isMiss ? cache.changing.missed(incoming.request.headers, context.fields) : cause)
        case .refuse(let cause):
            return refusal(because: cause)
        }
    }

    /// Returns the stored responses without suspending. Most hits need nothing else. Returns nil if the store is not in
    /// memory, or if owed removals have to be considered.
    private func candidatesAtOnce() -> StoredResponse.Lookup? {
        guard let memory = cache.memory, cache.pendingRemovals.selection(for: incoming.key.target) == nil else {
            return nil
        }
        return memory.findings(for: incoming.key)
    }

    /// Returns the stored responses for the request. First makes the removal that the store owes for the URL, if any.
    private func candidates() async throws -> StoredResponse.Lookup {
        if let pending = cache.pendingRemovals.selection(for: incoming.key.target) {
            guard await cache.remove(pending.selection, upTo: pending.number, in: context) else {
                throw DeadlinePassed()
            }
        }
        // A store in memory cannot block, so the time limit, its closure and the copies are not needed.
        if cache.memory != nil { return try await store.find(incoming.key) }
        return try await reach { [incoming, store] in try await store.find(incoming.key) }
    }

    /// Sends the request without using the store. The response is not stored.
    private func sendUncached(because cause: CacheReason) async throws -> HTTPResponse {
        var response = try await next(incoming.request, context: context)
        response.setCacheStatus(CacheStatus(.network, cause), in: context)
        return response
    }

    /// Sends the request to the server, and stores the response if that is allowed. If the server fails, `standIn` may
    /// be returned instead.
    func fetch(
        _ found: StoredResponse.Lookup, standIn: CacheCandidate?, because cause: CacheReason
    ) async throws -> HTTPResponse {
        var request = incoming.request
        if [.reload, .validate].contains(incoming.policy) { request.addCacheDirective("no-cache") }
        let (response, head): (HTTPResponse, StorageDecision.Head)
        do {
            (response, head) = try await send(request)
        } catch {
            return try await staleResponse(error, standIn)
        }
        if let standIn = await staleResponse(response, standIn) { return standIn }
        return await keep(response, head, found, replacing: standIn?.stored, because: cause)
    }

    /// Validates a stored response, or waits for a call that is already validating it.
    private func validate(
        _ choice: CacheCandidate, _ conditional: HTTPRequest, _ found: StoredResponse.Lookup, waits: Int
    ) async throws -> HTTPResponse {
        // A call waits only twice, so that it does not spend its time on the failures of other calls. A call that
        // requests validation does not wait: it needs a validation that began after it, with its own directives.
        guard waits < Self.maximumWaits, !incoming.asksToValidate else {
            return try await revalidate(choice, conditional, found)
        }
        let (validation, isFirst) = cache.traffic.beginValidation(choice.stored.id)
        if isFirst {
            defer { cache.traffic.end(validation, of: choice.stored.id, with: .unknown) }
            return try await revalidate(choice, conditional, found, for: validation)
        }
        let outcome: CacheFetches.Outcome
        do {
            outcome = try await validation.wait(until: context.deadline, on: context.time)
        } catch {
            // This call was cancelled, or its deadline has passed. `staleResponse` rethrows a cancellation. After the
            // deadline, a stale response may be used.
            return try await staleResponse(error, choice)
        }
        switch outcome {
        case .good(let fresh):
            if incoming.takes(fresh), let served = await serve(fresh, becauseOf: .validatedBeside) { return served }
        case .failed(let failure):
            if case .serve(let standIn) = CacheDecision.after(failure, choice, incoming),
                let served = await serve(standIn)
            {
                return served
            }
        case .unknown: break
        }
        return try await run(waits: waits + 1)
    }

    private static let maximumWaits = 2

    /// Validates a stored response with the server.
    ///
    /// - `validation`: the shared validation that receives the result, for the calls that wait for it.
    func revalidate(
        _ choice: CacheCandidate, _ conditional: HTTPRequest, _ found: StoredResponse.Lookup,
        for validation: CacheFetches.Validation? = nil
    ) async throws -> HTTPResponse {
        let (response, head): (HTTPResponse, StorageDecision.Head)
        do {
            (response, head) = try await send(conditional)
        } catch {
            report(.error(NetworkError(error)), of: choice, to: validation)
            return try await staleResponse(error, choice)
        }
        report(.status(response.status), of: choice, to: validation)
        if let standIn = await staleResponse(response, choice) { return standIn }
        guard response.status == .notModified else {
            return await keep(response, head, found, replacing: choice.stored, because: .replaced)
        }
        response.body.cancel()
        // If the 304 is for another response, or the body was removed during the request, the response is fetched with
        // an unconditional request.
        guard let fresh = StorageDecision.freshened(choice.stored, by: head, incoming),
            let served = isRefresh ? response : await serve(fresh, validatedBy: response)
        else { return try await fetch(found, standIn: nil, because: choice.cause) }
        await update(fresh)
        if let validation { cache.traffic.end(validation, of: fresh.id, with: .good(fresh)) }
        return served
    }

    /// Passes a failure of the server on to the calls that wait for the validation. A timeout is not passed on, because
    /// it is the timeout of this call only.
    private func report(
        _ failure: CacheDecision.Failure, of choice: CacheCandidate, to validation: CacheFetches.Validation?
    ) {
        guard let validation, failure.isServers else { return }
        if case .error(let error) = failure, case .timedOut = error.reason { return }
        cache.traffic.end(validation, of: choice.stored.id, with: .failed(failure))
    }

    /// Sends a request, and records the times from which the age of its response is calculated. The request time is the
    /// time at which the attempt that received the response was sent (RFC 9111 §4.2.3), so waits in queues and earlier
    /// attempts do not add to the age.
    private func send(_ request: HTTPRequest) async throws -> (HTTPResponse, StorageDecision.Head) {
        var context = context
        let stamp = SentAttempts(outer: context.sendCheck)
        context.sendCheck = stamp
        let response = try await next(request, context: context)
        let (date, now) = (context.time.date, context.time.now)
        let took = (stamp.left ?? now).duration(to: now)
        return (
            response,
            StorageDecision.Head(
                status: response.status, headers: response.headers, version: response.version,
                requestTime: date.addingTimeInterval(-max(0, took / .seconds(1))), responseTime: date)
        )
    }

    /// Returns the stored response in place of a response that reports a failure of the server; nil if it must not be
    /// used.
    private func staleResponse(_ response: HTTPResponse, _ standIn: CacheCandidate?) async -> HTTPResponse? {
        guard case .serve(let choice) = CacheDecision.after(.status(response.status), standIn, incoming),
            let served = await serve(choice)
        else { return nil }
        response.body.cancel()
        return served
    }

    /// Returns the stored response or a 504 in place of an error, or throws the error.
    private func staleResponse(_ error: any Error, _ standIn: CacheCandidate?) async throws -> HTTPResponse {
        switch CacheDecision.after(.error(NetworkError(error)), standIn, incoming) {
        case .serve(let choice):
            guard let served = await serve(choice) else { throw error }
            return served
        case .refuse(let cause): return refusal(because: cause)
        case .rethrow: throw error
        }
    }

    /// Revalidates an entry in the background (`stale-while-revalidate`). The revalidation outlives the caller, and is
    /// limited in number and time. It is a separate call: observers receive its events under a separate number.
    private func refreshInBackground(_ choice: CacheCandidate, _ found: StoredResponse.Lookup) {
        let (id, rules) = (choice.stored.id, incoming.rules)
        var refresh = self
        refresh.isRefresh = true
        refresh.next = next.with(
            context.ofItsOwn(
                total: min(rules.backgroundTimeout, context.timeouts.total ?? rules.backgroundTimeout)))
        Task(priority: .utility) { [refresh] in
            defer { refresh.cache.traffic.endRefresh(id) }
            let (context, start) = (refresh.context, refresh.context.start)
            let request = refresh.incoming.request
            context.begin(request)
            do {
                let response =
                    if let conditional = choice.conditional(refresh.incoming) {
                        try await refresh.revalidate(choice.because(.fresh), conditional, found)
                    } else {
                        try await refresh.fetch(found, standIn: nil, because: .fresh)
                    }
                for try await _ in response.body {}
                context.conclude(request, with: response, after: start.duration(to: context.time.now))
            } catch {
                // The entry stays stale, so the next call begins another revalidation.
                context.conclude(
                    request, with: NetworkError(error), after: start.duration(to: context.time.now))
            }
        }
    }

    /// Returns a locally generated 504, for a call whose stored response may not be used and whose request may not be
    /// sent.
    func refusal(because cause: CacheReason) -> HTTPResponse {
        Self.refusal(of: incoming.request, because: cause, in: context)
    }

    static func refusal(
        of request: HTTPRequest, because cause: CacheReason, in context: ExchangeContext
    ) -> HTTPResponse {
        var response = HTTPResponse(
            status: .gatewayTimeout, headers: [.date: HTTPDate(context.time.date).description], url: request.urlString)
        response.setCacheStatus(CacheStatus(.refused, cause), in: context)
        return response
    }
}
