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

    var context: ExchangeContext { next.context }

    var store: any HTTPCache.Store { cache.store }

    /// Runs `work`, which changes the store, and waits for it at most `HTTPCache.Options.commitTimeout`. Slower work
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
        let found: HTTPCache.Entry.Lookup
        do {
            // First makes the removal that the store owes for the URL, if any.
            if let pending = cache.pendingRemovals.selection(for: incoming.key.target),
                await !cache.remove(pending.selection, upTo: pending.number, in: context)
            {
                throw DeadlinePassed()
            }
            // A store in memory cannot block, so the time limit, its closure and the copies are not needed.
            found =
                if let memory = cache.memory {
                    memory.findings(for: incoming.key)
                } else {
                    try await cache.reach(in: context) { [incoming, store] in try await store.find(incoming.key) }
                }
        } catch {
            try Task.checkCancellation()
            if context.totalDeadline.hasPassed(at: context.time.now) { throw DeadlinePassed() }
            context.reportStoreFailure(error)
            if incoming.takesOnlyStored { return refusal(because: .storeFailed) }
            var response = try await next(incoming.request)
            response.setCacheStatus(HTTPCache.Status(.network, .storeFailed), in: context)
            return response
        }
        if incoming.key.principal != nil, !found.variants.isEmpty { cache.changing.found() }
        switch CacheDecision.about(incoming, found.variants, at: context.time.date) {
        case .serve(let choice, let refreshes):
            let id = choice.stored.id
            let refresh = refreshes ? cache.traffic.beginRefresh(id, limit: incoming.rules.backgroundLimit) : nil
            guard let response = await serve(choice.stored, refresh.map { choice.refreshed($0) } ?? choice) else {
                if refresh == .begun { cache.traffic.endRefresh(id) }
                if incoming.takesOnlyStored { return refusal(because: .entryIsGone) }
                return try await fetch(found, standIn: nil, because: .entryIsGone)
            }
            if refresh == .begun { refreshInBackground(choice, found) }
            return response
        case .revalidate(let choice, let conditional):
            return try await validateOnce(choice, conditional, found, waits: waits)
        case .fetch(let standIn, let cause):
            let isMiss = cause == .nothingStored && incoming.key.principal != nil
            return try await fetch(
                found, standIn: standIn,
                because: isMiss ? cache.changing.missed(incoming.request.headers, context.fields) : cause)
        case .refuse(let cause):
            return refusal(because: cause)
        }
    }

    /// Sends the request to the server, and stores the response if that is allowed. If the server fails, `standIn` may
    /// be returned instead.
    func fetch(
        _ found: HTTPCache.Entry.Lookup, standIn: CacheCandidate?, because cause: CacheReason
    ) async throws -> HTTPResponse {
        var request = incoming.request
        if [.reload, .validate].contains(incoming.policy) { request.addCacheDirective("no-cache") }
        let (response, head) = try await send(request, standIn)
        guard let head else { return response }
        return await keep(response, head, found, replacing: standIn?.stored, because: cause)
    }

    /// Validates a stored response once for all concurrent calls: waits for a call that is already validating it.
    private func validateOnce(
        _ choice: CacheCandidate, _ conditional: HTTPRequest, _ found: HTTPCache.Entry.Lookup, waits: Int
    ) async throws -> HTTPResponse {
        // A call waits only twice, so that it does not spend its time on the failures of other calls. A call that
        // requests validation does not wait: it needs a validation that began after it, with its own directives.
        guard waits < Self.maximumWaits, !incoming.asksToValidate else {
            return try await validate(choice, conditional, found)
        }
        let (validation, isFirst) = cache.traffic.beginValidation(choice.stored.id)
        if isFirst {
            defer { cache.traffic.end(validation, of: choice.stored.id, with: .unknown) }
            return try await validate(choice, conditional, found, for: validation)
        }
        do {
            switch try await validation.wait(until: context.deadline, on: context.time) {
            case .good(let fresh):
                if incoming.takes(fresh), let served = await serve(fresh, because: .validatedBeside) { return served }
            case .failed(let failure):
                if case .serve(let choice) = CacheDecision.after(failure, choice, incoming),
                    let served = await serve(choice.stored, choice)
                {
                    return served
                }
            case .unknown: break
            }
        } catch {
            // This call was cancelled, or its deadline has passed. After the deadline, a stale response may be used.
            if let served = await standIn(for: .error(NetworkError(error)), choice) { return served }
            throw error
        }
        return try await run(waits: waits + 1)
    }

    private static let maximumWaits = 2

    /// Validates a stored response with the server.
    ///
    /// - `validation`: the shared validation that receives the result, for the calls that wait for it.
    private func validate(
        _ choice: CacheCandidate, _ conditional: HTTPRequest, _ found: HTTPCache.Entry.Lookup,
        for validation: CacheFetches.Validation? = nil
    ) async throws -> HTTPResponse {
        let (response, head) = try await send(conditional, choice, for: validation)
        guard let head else { return response }
        guard head.status == .notModified else {
            return await keep(response, head, found, replacing: choice.stored, because: .replaced)
        }
        response.body.cancel()
        // If the 304 is for another response, or the body was removed during the request, the response is fetched with
        // an unconditional request.
        guard let fresh = StorageDecision.freshened(choice.stored, by: head, incoming),
            let served = isRefresh ? response : await serve(fresh, because: .stillGood, validatedBy: response)
        else { return try await fetch(found, standIn: nil, because: choice.cause) }
        await update(fresh)
        if let validation { cache.traffic.end(validation, of: fresh.id, with: .good(fresh)) }
        return served
    }

    /// Sends a request. Returns the response with its head and the times from which its age is calculated; or only the
    /// response that is returned in place of a failure of the server.
    ///
    /// The request time is the time at which the attempt that received the response was sent (RFC 9111 §4.2.3), so
    /// waits in queues and earlier attempts do not add to the age.
    private func send(
        _ request: HTTPRequest, _ choice: CacheCandidate?, for validation: CacheFetches.Validation? = nil
    ) async throws -> (HTTPResponse, StorageDecision.Head?) {
        var context = context
        let stamp = SentAttempts(outer: context.sendCheck)
        context.sendCheck = stamp
        let response: HTTPResponse
        do {
            response = try await next(request, context: context)
        } catch {
            guard let served = await standIn(for: .error(NetworkError(error)), choice, validation) else { throw error }
            return (served, nil)
        }
        let (date, now) = (context.time.date, context.time.now)
        if let served = await standIn(for: .status(response.status), choice, validation) {
            response.body.cancel()
            return (served, nil)
        }
        let took = (stamp.left ?? now).duration(to: now)
        return (
            response,
            StorageDecision.Head(
                status: response.status, headers: response.headers, version: response.version,
                requestTime: date.addingTimeInterval(-max(0, took / .seconds(1))), responseTime: date)
        )
    }

    /// Returns the stored response, or a 504, in place of a failure of the server; nil if the failure is passed on.
    ///
    /// - `validation`: passes the failure on to the calls that wait for it. A timeout is not passed on, because it is
    ///   the timeout of this call only.
    private func standIn(
        for failure: CacheDecision.Failure, _ choice: CacheCandidate?, _ validation: CacheFetches.Validation? = nil
    ) async -> HTTPResponse? {
        if let validation, let choice, failure.isServers, !failure.isTimeout {
            cache.traffic.end(validation, of: choice.stored.id, with: .failed(failure))
        }
        return switch CacheDecision.after(failure, choice, incoming) {
        case .serve(let choice): await serve(choice.stored, choice)
        case .refuse(let cause): refusal(because: cause)
        case .rethrow: nil
        }
    }

    /// Revalidates an entry in the background (`stale-while-revalidate`). The revalidation outlives the caller, and is
    /// limited in number and time. It is a separate call: observers receive its events under a separate number.
    private func refreshInBackground(_ choice: CacheCandidate, _ found: HTTPCache.Entry.Lookup) {
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
                        try await refresh.validate(choice.because(.fresh), conditional, found)
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
        response.setCacheStatus(HTTPCache.Status(.refused, cause), in: context)
        return response
    }
}
