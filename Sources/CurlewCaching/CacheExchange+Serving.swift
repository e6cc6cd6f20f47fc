// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP

extension CacheExchange {
    /// Stored bodies up to this size are read before the response is returned. If the store fails, the cache can then
    /// still send the request to the server.
    private static let readAtOnce: Int64 = 64 << 10

    /// Returns a stored response; nil if its body is no longer available.
    ///
    /// - `choice`: the response as it was found; nil if the server has validated it since.
    /// - `cause`: the reason for using a validated response.
    /// - `fresh`: the 304 of this call that has validated it.
    func serve(
        _ stored: HTTPCache.Entry, _ choice: CacheCandidate? = nil, because cause: CacheReason = .stillGood,
        validatedBy fresh: HTTPResponse? = nil
    ) async -> HTTPResponse? {
        let delivery = CachedResponseBuilder(
            of: stored, for: incoming, age: choice?.freshness.age, isStale: choice?.staleReason != nil)
        let found: ResponseBody?
        do {
            if let memory = cache.memory {
                found = memory.bytes(of: stored).flatMap { part(of: $0, delivery.bytes) }
            } else {
                let exchange = self
                found = try await cache.reach(in: context) { try await exchange.body(of: stored, delivery.bytes) }
            }
        } catch {
            context.reportStoreFailure(error)
            return nil
        }
        guard let body = found else { return nil }
        var headers = delivery.headers
        context.secrets.declare(in: &headers)
        var response = HTTPResponse(
            status: delivery.status, headers: headers, body: body, version: stored.version,
            url: incoming.rules.ignoredQueryItems.isEmpty ? incoming.key.target : incoming.request.urlString)
        if let fresh {
            for cookie in fresh.headers[values: .setCookie] { response.headers.append(.setCookie, cookie) }
            response.metrics = fresh.metrics
            response.history = fresh.history
            response.version = fresh.version
        }
        response.setCacheStatus(
            choice?.status ?? HTTPCache.Status(.revalidated, cause, keeping: fresh == nil ? nil : .freshens),
            in: context
        )
        return response
    }

    /// Returns the bytes of `range` of a stored body: in memory if they are few or already there, otherwise read on
    /// demand. Returns nil if the body no longer exists or is too short.
    private func body(of stored: HTTPCache.Entry, _ range: Range<Int64>) async throws -> ResponseBody? {
        guard let body = try await store.body(of: stored) else { return nil }
        guard range.upperBound <= body.length else {
            body.close()
            return nil
        }
        let limit = context.limits.responseBody
        if let bytes = body.bytes {
            body.close()
            return part(of: bytes, range)
        }
        let source = CacheBodySource(body, range, until: context.totalDeadline, on: context.time)
        guard range.count <= Self.readAtOnce else {
            return ResponseBody(source, limit: limit, length: Int64(range.count))
        }
        var all = Data()
        while let chunk = try await source.next() { all.append(chunk) }
        return ResponseBody(all, limit: limit)
    }

    /// Returns the bytes of `range` of a body in memory; nil if the body is too short.
    private func part(of bytes: Data, _ range: Range<Int64>) -> ResponseBody? {
        guard range.upperBound <= Int64(bytes.count) else { return nil }
        let limit = context.limits.responseBody
        guard range.count < bytes.count else { return ResponseBody(bytes, limit: limit) }
        let start = bytes.startIndex
        return ResponseBody(
            bytes.subdata(in: start + Int(range.lowerBound)..<start + Int(range.upperBound)), limit: limit)
    }

    /// Writes the updated head of an entry to the store, or removes the entry if it must no longer be stored.
    func update(_ stored: HTTPCache.Entry) async {
        let isForbidden = StorageDecision.isForbidden(stored)
        await change { [store] in
            if isForbidden {
                _ = try await store.remove(.entries([stored.id]))
            } else {
                _ = try await store.update(stored)
            }
        }
    }
}

/// A part of a stored body, read on demand in pieces of 64 KiB.
final class CacheBodySource: ResponseBodySource {
    private static let pieceSize = 64 << 10

    private let body: any HTTPCache.Entry.Body
    private let end: Int64
    private let position: Locked<Int64>
    private let deadline: SystemTime.Deadline
    private let time: any TimeSource

    init(
        _ body: any HTTPCache.Entry.Body, _ range: Range<Int64>, until deadline: SystemTime.Deadline,
        on time: any TimeSource
    ) {
        self.body = body
        self.deadline = deadline
        self.time = time
        end = range.upperBound
        position = Locked(range.lowerBound)
    }

    deinit { body.close() }

    func next() async throws -> Data? {
        let start = position.withLock { $0 }
        guard start < end else {
            body.close()
            return nil
        }
        try Task.checkCancellation()
        let (body, count) = (body, Int(min(Int64(Self.pieceSize), end - start)))
        let chunk = try await bounded(until: deadline, on: time) { try await body.read(from: start, upTo: count) }
        guard !chunk.isEmpty, Int64(chunk.count) <= end - start else {
            throw NetworkError(
                .storage,
                detail: "The cache store returned \(chunk.count) bytes at offset \(start) of a body, of which "
                    + "\(end - start) bytes are left.",
                hint: "Clear the store, and send the call again.")
        }
        position.withLock { $0 = start + Int64(chunk.count) }
        return chunk
    }

    func cancel() {
        position.withLock { $0 = end }
        body.close()
    }
}
