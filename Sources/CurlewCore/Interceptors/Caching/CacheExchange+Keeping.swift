// SPDX-License-Identifier: MIT

import CurlewHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension CacheExchange {
    /// Gives an answer to the caller, and what may be kept of it to the store.
    ///
    /// - `replacing`: the stored response that it takes the place of, kept or not.
    func keep(
        _ response: HTTPResponse, _ head: CacheIntake.Head, _ flight: CacheTraffic.Flight,
        _ variants: [StoredResponse], replacing old: StoredResponse?, because cause: CacheCause
    ) async -> HTTPResponse {
        var response = response
        let keeping = await keep(&response, head, flight, variants, replacing: old)
        if keeping != .kept, keeping != .freshens { await drop(old, response.status, flight) }
        response.judge(CacheVerdict(.network, cause, keeping: keeping), in: context)
        return response
    }

    private func keep(
        _ response: inout HTTPResponse, _ head: CacheIntake.Head, _ flight: CacheTraffic.Flight,
        _ variants: [StoredResponse], replacing old: StoredResponse?
    ) async -> CacheCause {
        // Somebody may have signed in or out while the answer was on its way.
        guard next.principal(of: question.request) == principal else { return .principalChanged }
        let matching = variants.filter { $0.matches(question.request.headers) }
        if await freshen(matching, by: head) { return .freshens }
        let verdict = CacheIntake.verdict(
            on: head, to: question, tags: context.options.cacheTags, hasCredential: principal != .anonymous)
        guard case .store(let stored) = verdict else {
            guard case .doNotStore(let cause) = verdict else { return .noBytes }
            return cause
        }
        guard response.body.value == nil else { return .noBytes }
        let limit = min(question.rules.bodyLimit, store.bodyLimit)
        guard response.body.declaredLength ?? 0 <= limit else { return .tooLong }
        do {
            let sink = try await sink(for: stored, matching, limit, flight, replacing: old)
            guard let bytes = response.body.bufferedData else {
                response.body = ResponseBody(CacheTee(response.body, sink), watching: response.body)
                return .kept
            }
            await sink.take(bytes)
            return await sink.finish() ? .kept : flight.isDoomed ? .invalidated : .tooLong
        } catch {
            context.reportStoreFailure(error)
            return .storeFailed
        }
    }

    /// Takes note of an answer without a body of its own: a 200 to HEAD, and a 304 to validators of the caller's.
    private func freshen(_ matching: [StoredResponse], by head: CacheIntake.Head) async -> Bool {
        if question.request.method == .head, head.status == .ok {
            var isFresh = false
            for stored in matching {
                if let fresh = CacheIntake.freshened(stored, byHEAD: head, question), !question.keepsNothing {
                    await update(fresh)
                    isFresh = true
                } else {
                    await remove(stored)
                }
            }
            return isFresh
        }
        guard head.status == .notModified, head.headers.contains(.eTag), !question.keepsNothing else { return false }
        let fresh = matching.compactMap { CacheIntake.freshened($0, by: head, question) }
        for stored in fresh { await update(stored) }
        return !fresh.isEmpty
    }

    /// Removes what an answer has shown to be out of date. A server that fails has shown nothing.
    private func drop(_ old: StoredResponse?, _ status: HTTPStatus, _ flight: CacheTraffic.Flight) async {
        guard let old, !status.isServerError, status != .notModified, !CacheRules.dependsOnMore(status) else { return }
        await remove(old)
    }

    private func remove(_ stored: StoredResponse) async {
        do {
            _ = try await store.remove(.entries([stored.id]))
        } catch {
            context.reportStoreFailure(error)
        }
    }

    private func sink(
        for stored: StoredResponse, _ matching: [StoredResponse], _ limit: Int64, _ flight: CacheTraffic.Flight,
        replacing old: StoredResponse?
    ) async throws -> CacheSink {
        let replaced = old.map { [$0.id] } ?? []
        let context = context
        let report: @Sendable (any Error) -> Void = { context.reportStoreFailure($0) }
        for other in matching {
            guard let combination = CacheCombination(stored, with: other), let body = try await store.body(of: other)
            else { continue }
            return CacheSink(
                try await store.write(combination.head), limit: limit, expecting: stored.part?.bytes.count,
                within: CacheSink.Surroundings(body, combination), flight: flight, replacing: replaced + [other.id],
                report: report)
        }
        return CacheSink(
            try await store.write(stored), limit: limit, expecting: stored.part?.bytes.count, within: nil,
            flight: flight, replacing: replaced, report: report)
    }
}
