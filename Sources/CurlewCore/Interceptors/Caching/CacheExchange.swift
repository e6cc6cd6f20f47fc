// SPDX-License-Identifier: MIT

import CurlewHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// One call through the cache: carries out what `CacheDecision` and `CacheIntake` decide.
struct CacheExchange: Sendable {
    let question: CacheQuestion
    let principal: Principal
    let next: Next
    let cache: CacheInterceptor
    /// The call's, or that of a refresh in the background.
    var context: ExchangeContext

    init(_ question: CacheQuestion, _ principal: Principal, _ next: Next, _ cache: CacheInterceptor) {
        self.question = question
        self.principal = principal
        self.next = next
        self.cache = cache
        context = next.context
    }

    var store: any CacheStore { cache.store }

    /// Decides, and does it.
    func run() async throws -> HTTPResponse {
        let variants: [StoredResponse]
        do {
            variants = try await candidates()
        } catch {
            context.reportStoreFailure(error)
            if question.takesOnlyStored { return refusal(because: .storeFailed) }
            return try await askPast(because: .storeFailed)
        }
        switch CacheDecision.about(question, variants, at: context.time.date) {
        case .serve(let choice, let refresh):
            guard let response = await serve(choice) else {
                if question.takesOnlyStored { return refusal(because: .entryIsGone) }
                return try await fetch(variants, standIn: nil, because: .entryIsGone)
            }
            if refresh { refreshInBackground(choice, variants) }
            return response
        case .revalidate(let choice, let conditional):
            return try await revalidate(choice, conditional, variants)
        case .fetch(let standIn, let cause):
            return try await fetch(variants, standIn: standIn, because: cause)
        case .refuse(let cause):
            return refusal(because: cause)
        }
    }

    /// What is stored for the one who asks, and if that is not it, for everybody.
    private func candidates() async throws -> [StoredResponse] {
        let own = question.reservation == nil ? try await store.variants(for: question.key) : []
        let isFound = own.contains { $0.matches(question.request.headers) }
        let hasAsked = question.key == question.common && question.reservation == nil
        if isFound || hasAsked || !question.rules.sharesPublic { return own }
        let common = try await store.variants(for: question.common)
        return own + common.filter { question.isForEverybody($0.headers) }
    }

    /// Asks the server, with the store left out.
    private func askPast(because cause: CacheCause) async throws -> HTTPResponse {
        var response = try await next(question.request, context: context)
        response.judge(CacheVerdict(.network, cause), in: context)
        return response
    }

    /// Asks the server for a new response.
    func fetch(
        _ variants: [StoredResponse], standIn: CacheChoice?, because cause: CacheCause
    ) async throws -> HTTPResponse {
        var request = question.request
        if question.policy == .reload { request.addCacheDirective("no-cache") }
        let flight = cache.traffic.begin(question.key.target)
        let start = context.time.date
        let response: HTTPResponse
        do {
            response = try await next(request, context: context)
        } catch {
            return try await standFor(error, standIn)
        }
        if let answer = await standFor(response, standIn) { return answer }
        let head = head(of: response, since: start)
        return await keep(response, head, flight, variants, replacing: standIn?.stored, because: cause)
    }

    /// Asks the server whether a stored response is still good.
    func revalidate(
        _ choice: CacheChoice, _ conditional: HTTPRequest, _ variants: [StoredResponse]
    ) async throws -> HTTPResponse {
        let flight = cache.traffic.begin(question.key.target)
        let start = context.time.date
        let response: HTTPResponse
        do {
            response = try await next(conditional, context: context)
        } catch {
            return try await standFor(error, choice)
        }
        if let answer = await standFor(response, choice) { return answer }
        let head = head(of: response, since: start)
        guard response.status == .notModified else {
            return await keep(response, head, flight, variants, replacing: choice.stored, because: .replaced)
        }
        response.body.cancel()
        // A 304 about something else, or a body that has gone meanwhile: without conditions there is an answer.
        guard let fresh = CacheIntake.freshened(choice.stored, by: head, question),
            let answer = await serve(fresh, validatedBy: response)
        else { return try await fetch(variants, standIn: nil, because: choice.cause) }
        if !flight.isDoomed { await update(fresh) }
        return answer
    }

    /// The head of an answer, with the times that its age is reckoned from.
    func head(of response: HTTPResponse, since start: Date) -> CacheIntake.Head {
        CacheIntake.Head(
            status: response.status, headers: response.headers, version: response.version, requestTime: start,
            responseTime: context.time.date)
    }

    /// The stored response in place of an answer that says only that the server failed.
    private func standFor(_ response: HTTPResponse, _ standIn: CacheChoice?) async -> HTTPResponse? {
        guard case .serve(let choice) = CacheDecision.after(.status(response.status), standIn, question),
            let answer = await serve(choice)
        else { return nil }
        response.body.cancel()
        return answer
    }

    /// The stored response in place of an answer that did not come, or a 504, or the error.
    private func standFor(_ error: any Error, _ standIn: CacheChoice?) async throws -> HTTPResponse {
        switch CacheDecision.after(.error(NetworkError(error)), standIn, question) {
        case .serve(let choice):
            guard let answer = await serve(choice) else { throw error }
            return answer
        case .refuse(let cause): return refusal(because: cause)
        case .rethrow: throw error
        }
    }

    /// Refreshes an entry without anybody waiting for it. It outlives the caller, and is bounded in number and time.
    private func refreshInBackground(_ choice: CacheChoice, _ variants: [StoredResponse]) {
        let (id, rules) = (choice.stored.id, question.rules)
        guard cache.traffic.beginRefresh(id, limit: rules.backgroundLimit) else { return }
        var refresh = self
        refresh.context.attemptDeadline = .never
        refresh.context.totalDeadline = Deadline(
            context.timeouts.total ?? rules.backgroundTimeout, after: context.time.now)
        Task(priority: .utility) { [refresh] in
            defer { refresh.cache.traffic.endRefresh(id) }
            do {
                let response =
                    if let conditional = choice.conditional(refresh.question) {
                        try await refresh.revalidate(choice.because(.fresh), conditional, variants)
                    } else {
                        try await refresh.fetch(variants, standIn: nil, because: .fresh)
                    }
                for try await _ in response.body {}
            } catch {
                // The next call asks again; observers have heard of the attempt.
            }
        }
    }

    /// A 504 made here, because nothing may be sent or used.
    func refusal(because cause: CacheCause) -> HTTPResponse {
        Self.refusal(of: question.request, because: cause, in: context)
    }

    static func refusal(
        of request: HTTPRequest, because cause: CacheCause, in context: ExchangeContext
    ) -> HTTPResponse {
        var response = HTTPResponse(
            status: .gatewayTimeout, headers: [.date: HTTPDate(context.time.date).description], url: request.urlString)
        response.judge(CacheVerdict(.refused, cause), in: context)
        return response
    }
}
