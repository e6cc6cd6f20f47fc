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
        if keeping != .kept, keeping != .freshens { await drop(old, response.status) }
        response.judge(CacheVerdict(.network, cause, keeping: keeping), in: context)
        return response
    }

    private func keep(
        _ response: inout HTTPResponse, _ head: CacheIntake.Head, _ flight: CacheTraffic.Flight,
        _ variants: [StoredResponse], replacing old: StoredResponse?
    ) async -> CacheCause {
        // Somebody may have signed in or out while the answer was on its way.
        guard isUnchanged || question.isForEverybody(head.headers) else { return .principalChanged }
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
            let length = stored.part.map { Int64($0.bytes.count) } ?? response.body.declaredLength
            let sink = try await sink(for: stored, of: length, matching, limit, flight, replacing: old)
            guard let bytes = response.body.bufferedData else {
                response.body = ResponseBody(CacheTee(response.body, sink), watching: response.body)
                return .kept
            }
            await sink.take(bytes)
            if await sink.finish() { return .kept }
            if flight.isDoomed { return .invalidated }
            return Int64(bytes.count) > limit ? .tooLong : .storeFailed
        } catch {
            context.reportStoreFailure(error)
            return .storeFailed
        }
    }

    private var isUnchanged: Bool {
        question.reservation != nil || next.principal(of: question.request, key: cache.key) == principal
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

    /// Removes what an answer has shown to be out of date. Who was refused, or met a server that fails, was shown nothing.
    private func drop(_ old: StoredResponse?, _ status: HTTPStatus) async {
        guard let old, status.isSuccess || status.isRedirection || status == .notFound || status == .gone,
            status != .notModified
        else { return }
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
        for stored: StoredResponse, of length: Int64?, _ matching: [StoredResponse], _ limit: Int64,
        _ flight: CacheTraffic.Flight, replacing old: StoredResponse?
    ) async throws -> CacheSink {
        let replaced = old.map { [$0.id] } ?? []
        let context = context
        let report: @Sendable (any Error) -> Void = { context.reportStoreFailure($0) }
        for other in matching {
            guard let combination = CacheCombination(stored, with: other), let body = try await store.body(of: other)
            else { continue }
            return CacheSink(
                try await store.write(combination.head), limit: limit, expecting: length,
                within: CacheSink.Surroundings(body, combination), flight: flight, replacing: replaced + [other.id],
                report: report)
        }
        return CacheSink(
            try await store.write(stored), limit: limit, expecting: length, within: nil,
            flight: flight, replacing: replaced, report: report)
    }
}
