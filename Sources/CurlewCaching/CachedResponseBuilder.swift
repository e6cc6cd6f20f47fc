// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// The head and the range of the body that are returned to the caller from a stored response. No I/O.
struct CachedResponseBuilder: Sendable {
    var status: HTTPStatus
    var headers: HTTPHeaders
    /// The range of the stored body that is returned; empty for responses without content.
    var bytes: Range<Int64>

    /// The fields that a 304 contains (RFC 9110 §15.4.5).
    private static let notModified: Set<HTTPField.Name> = [
        .age, .cacheControl, "Content-Location", .date, .eTag, "Expires", .lastModified, .vary,
    ]

    /// - `age`: the value of the `Age` field in seconds, for a response that is used without validation (RFC 9111 §4);
    ///   nil leaves the stored field unchanged.
    init(of stored: borrowing HTTPCache.Entry, for incoming: CacheRequest, age: Double?, isStale: Bool = false) {
        status = stored.status
        headers = stored.headers
        // Cookies were set when they arrived. A stored response must not set them again.
        headers.remove(.setCookie)
        if let age {
            // A stale response must have an `Age` that shows it (RFC 5861 §3).
            headers[.age] = "\(max(Int(age), isStale ? 1 : 0))"
        }
        bytes = 0..<stored.bodyLength
        if Self.isNotModified(stored, incoming) {
            respond(.notModified) { Self.notModified.contains($0) }
            return
        }
        takeRange(stored, incoming)
        if incoming.request.method == .head { bytes = 0..<0 }
    }

    /// Whether the caller receives a 304, because its own copy is valid (RFC 9110 §13.2.2, as far as it applies to a
    /// cache).
    private static func isNotModified(_ stored: HTTPCache.Entry, _ incoming: CacheRequest) -> Bool {
        let (headers, method) = (incoming.request.headers, incoming.request.method)
        guard stored.status == .ok || stored.status == .partialContent, method == .get || method == .head else {
            return false
        }
        if let list = headers[.ifNoneMatch] {
            return EntityTag.list(list, names: stored.headers[.eTag].flatMap { EntityTag($0) })
        }
        guard let value = headers[.ifModifiedSince], let date = CacheDate.read(value, now: stored.responseTime) else {
            return false
        }
        let changed = CacheDate.modified(stored.headers, now: stored.responseTime) ?? CacheDate.made(stored)
        return changed <= date
    }

    private mutating func takeRange(_ stored: HTTPCache.Entry, _ incoming: CacheRequest) {
        guard let range = incoming.range, incoming.ifRangeMatches(stored) else { return }
        let offset: Int64
        let length: Int64?
        if let part = stored.part {
            (offset, length) = (part.bytes.lowerBound, part.length)
        } else {
            guard stored.status == .ok, stored.isIdentity else { return }
            (offset, length) = (0, stored.bodyLength)
        }
        guard let wanted = range.bytes(of: length ?? offset + stored.bodyLength),
            let part = ContentRange(wanted, of: length)
        else {
            respond(.rangeNotSatisfiable) { $0 == .date || $0 == .age }
            headers[.contentRange] = "bytes */\(length ?? 0)"
            return
        }
        status = .partialContent
        headers[.contentRange] = part.description
        headers[.contentLength] = "\(wanted.count)"
        bytes = wanted.lowerBound - offset..<wanted.upperBound - offset
    }

    private mutating func respond(_ status: HTTPStatus, keeping isKept: (HTTPField.Name) -> Bool) {
        self.status = status
        var kept = HTTPHeaders()
        for field in headers where isKept(field.name) { kept.appendUnchecked(field) }
        headers = kept
        bytes = 0..<0
    }
}
