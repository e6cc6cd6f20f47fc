// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP

extension CacheExchange {
    /// Returns the server's response with its cache status, and stores it if that is allowed: a body in memory at once,
    /// a streamed body while the caller reads it.
    ///
    /// - `replacing`: the stored response that the new one makes obsolete, whether or not the new one is stored.
    func keep(
        _ response: HTTPResponse, _ head: StorageDecision.Head, _ found: StoredResponse.Lookup,
        replacing old: StoredResponse?,
        because cause: CacheReason
    ) async -> HTTPResponse {
        var response = response
        let keeping = await keep(&response, head, found, replacing: old)
        if keeping != .kept, keeping != .freshens { await drop(superseded(old, found), response.status) }
        response.setCacheStatus(CacheStatus(.network, cause, keeping: keeping), in: context)
        return response
    }

    /// The stored responses that the new response shows to be out of date: the one that it replaces, or after a reload
    /// all that match the request.
    private func superseded(_ old: StoredResponse?, _ found: StoredResponse.Lookup) -> [StoredResponse] {
        if let old { return [old] }
        return incoming.policy == .reload ? found.variants.filter { $0.matches(incoming.request.headers) } : []
    }

    private func keep(
        _ response: inout HTTPResponse, _ head: StorageDecision.Head, _ found: StoredResponse.Lookup,
        replacing old: StoredResponse?
    ) async -> CacheReason {
        // The user may have signed in or out while the request was in progress.
        guard isUnchanged else { return .principalChanged }
        let matching = found.variants.filter { $0.matches(incoming.request.headers) }
        if await freshen(matching, by: head) { return .freshens }
        let stored: StoredResponse
        switch StorageDecision.verdict(on: head, to: incoming, tags: context.options.cacheTags) {
        case .success(let entry): stored = entry
        case .failure(let cause): return cause
        }
        guard response.body.value == nil else { return .noBytes }
        let limit = min(incoming.rules.bodyLimit, store.bodyLimit)
        guard response.body.declaredLength ?? 0 <= limit else { return .tooLong }
        if stored.part != nil, let whole = matching.first(where: { $0.part == nil }) {
            // A partial response never replaces a complete one, but may confirm that the complete one is valid.
            guard let fresh = StorageDecision.freshened(whole, byPart: head, incoming) else { return .notWorthKeeping }
            await update(fresh)
            return .freshens
        }
        do {
            let sink = try await sink(for: stored, of: response, limit, found.epoch, replacing: old)
            guard let bytes = response.body.bufferedData else {
                response.body = ResponseBody(CacheWritingBody(response.body, sink), watching: response.body)
                return .kept
            }
            switch await sink.take(all: bytes) {
            case .kept: return .kept
            case .refused: return .invalidated
            case .failed: return Int64(bytes.count) > limit ? .tooLong : .storeFailed
            }
        } catch {
            context.reportStoreFailure(error)
            return .storeFailed
        }
    }

    private var isUnchanged: Bool {
        next.principal(of: incoming.request, key: cache.key) == principal
    }

    /// Updates the matching stored responses from a response without content: a 200 to HEAD, or a 304 to the caller's
    /// own validators. Removes those that contradict a response to HEAD. Returns whether any was updated.
    private func freshen(_ matching: [StoredResponse], by head: StorageDecision.Head) async -> Bool {
        if incoming.request.method == .head, head.status == .ok {
            var isFresh = false
            for stored in matching {
                if let fresh = StorageDecision.freshened(stored, byHEAD: head, incoming), !incoming.keepsNothing {
                    await update(fresh)
                    isFresh = true
                } else {
                    await remove(stored)
                }
            }
            return isFresh
        }
        guard head.status == .notModified, head.headers.contains(.eTag), !incoming.keepsNothing else { return false }
        let fresh = matching.compactMap { StorageDecision.freshened($0, by: head, incoming) }
        for stored in fresh { await update(stored) }
        return !fresh.isEmpty
    }

    /// Removes the stored responses that a response with this status shows to be out of date: after a success, a
    /// redirect, a 404 or a 410. Other statuses say nothing about them.
    private func drop(_ old: [StoredResponse], _ status: HTTPStatus) async {
        guard status.isSuccess || status.isRedirection || status == .notFound || status == .gone,
            status != .notModified
        else { return }
        for stored in old { await remove(stored) }
    }

    private func remove(_ stored: StoredResponse) async {
        await change { [store] in _ = try await store.remove(.entries([stored.id])) }
    }

    private func sink(
        for stored: StoredResponse, of response: HTTPResponse, _ limit: Int64, _ epoch: StoredResponse.Lookup.Epoch,
        replacing old: StoredResponse?
    ) async throws -> CacheSink {
        let (store, cache, context) = (store, cache, context)
        return CacheSink(
            try await reach { try await store.write(stored, since: epoch) }, limit: limit,
            expecting: stored.part.map { Int64($0.bytes.count) } ?? response.body.declaredLength,
            replacing: old.map { [$0.id] } ?? [], cache, context)
    }
}
