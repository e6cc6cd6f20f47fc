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
        _ response: HTTPResponse, _ head: StorageDecision.Head, _ found: HTTPCache.Entry.Lookup,
        replacing old: HTTPCache.Entry?,
        because cause: CacheReason
    ) async -> HTTPResponse {
        var response = response
        let matching = found.variants.filter { $0.matches(incoming.request.headers) }
        let keeping = await store(&response, head, matching, found.epoch, replacing: old)
        let status = head.status
        if keeping != .kept, keeping != .freshens, status != .notModified,
            status.isSuccess || status.isRedirection || status == .notFound || status == .gone
        {
            // The new response shows these to be out of date. Other statuses say nothing about them.
            for stored in old.map({ [$0] }) ?? (incoming.policy == .reload ? matching : []) { await remove(stored) }
        }
        response.setCacheStatus(HTTPCache.Status(.network, cause, keeping: keeping), in: context)
        return response
    }

    private func store(
        _ response: inout HTTPResponse, _ head: StorageDecision.Head, _ matching: [HTTPCache.Entry],
        _ epoch: HTTPCache.Entry.Lookup.Epoch, replacing old: HTTPCache.Entry?
    ) async -> CacheReason {
        // The user may have signed in or out while the request was in progress.
        let now = next.principal(of: incoming.request, key: store.principalKey)
        guard now == principal else { return .principalChanged }
        if await freshen(matching, by: head) { return .freshens }
        let stored: HTTPCache.Entry
        switch StorageDecision.verdict(on: head, to: incoming, tags: context.options.cacheTags) {
        case .success(let entry): stored = entry
        case .failure(let cause): return cause
        }
        guard response.body.value == nil else { return .noBytes }
        let limit = min(incoming.rules.bodyLimit, store.bodyLimit)
        guard response.body.declaredLength ?? 0 <= limit else { return .tooLong }
        if stored.part != nil, let whole = matching.first(where: { $0.part == nil }) {
            // A partial response never replaces a complete one, but may confirm that the complete one is valid.
            guard let fresh = StorageDecision.freshened(whole, by: head, incoming) else { return .notWorthKeeping }
            await update(fresh)
            return .freshens
        }
        do {
            let writer = try await cache.reach(in: context) { [store] in try await store.write(stored, since: epoch) }
            let sink = CacheSink(
                writer, limit: limit,
                expecting: stored.part.map { Int64($0.bytes.count) } ?? response.body.declaredLength,
                replacing: old.map { [$0.id] } ?? [], cache, context)
            guard let bytes = response.body.bufferedData else {
                response.body = response.body.written(to: sink)
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

    /// Updates the matching stored responses from a response without content: a 200 to HEAD, or a 304 to the caller's
    /// own validators. Removes those that contradict a response to HEAD. Returns whether any was updated.
    private func freshen(_ matching: [HTTPCache.Entry], by head: StorageDecision.Head) async -> Bool {
        if incoming.request.method == .head, head.status == .ok {
            var isFresh = false
            for stored in matching {
                if let fresh = StorageDecision.freshened(stored, by: head, incoming), !incoming.keepsNothing {
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

    private func remove(_ stored: HTTPCache.Entry) async {
        await change { [store] in _ = try await store.remove(.entries([stored.id])) }
    }
}
