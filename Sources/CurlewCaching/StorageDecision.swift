// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// The cache's decisions about whether a response is stored, and which entries it updates or invalidates (RFC 9111 §3,
/// §4.3 and §4.4). No I/O.
enum StorageDecision {
    /// The head of a response, with the time at which its request was sent and the time at which the head was received.
    struct Head: Sendable {
        var status: HTTPStatus
        var headers: HTTPHeaders
        var version: HTTPVersion
        var requestTime: Date
        var responseTime: Date
    }

    /// Decides whether to store the response to a request that has a cache key. Returns the entry, or the reason
    /// against it.
    static func verdict(
        on head: Head, to incoming: CacheRequest, tags: Set<String> = []
    ) -> Result<HTTPCache.Entry, CacheReason> {
        let status = head.status
        let control = CacheControl(head.headers)
        if let cause = refusal(status, control, incoming) { return .failure(cause) }
        guard incoming.request.method != .head else { return .failure(.noBytes) }
        guard !status.isInformational, !HTTPCache.Options.dependsOnMore(status) else {
            return .failure(.dependsOnMore(status.code))
        }
        guard isMarked(head, control) else { return .failure(.notMarked) }
        guard let variant = CacheVariant.text(for: incoming.request.headers, head.headers) else {
            return .failure(.variesOnEverything)
        }
        var stored = HTTPCache.Entry(
            key: incoming.key, status: status,
            headers: CacheFields.storable(head.headers, control, receivedAt: head.responseTime),
            version: head.version, requestTime: head.requestTime, responseTime: head.responseTime,
            tags: tags.union(CacheFields.tags(head.headers)))
        stored.variant = variant
        if status == .partialContent, !isClearPart(stored, incoming) { return .failure(.partIsUnclear) }
        guard isWorthKeeping(stored, incoming) else { return .failure(.notWorthKeeping) }
        return .success(stored)
    }

    /// Returns the reason why a response must not be stored, whatever its other directives are; nil if there is none.
    private static func refusal(
        _ status: HTTPStatus, _ control: CacheControl, _ incoming: CacheRequest
    ) -> CacheReason? {
        if incoming.keepsNothing { return incoming.policy == .noStore ? .callStoresNothing : .requestForbids }
        let demands = control.permits("must-understand")
        if demands, !HTTPCache.Options.isUnderstood(status) { return .notUnderstood(status.code) }
        return control.contains("no-store") && !demands ? .responseForbids : nil
    }

    /// Whether the response has an explicit directive that allows storing, or a status that is heuristically cacheable:
    /// the last condition of RFC 9111 §3.
    private static func isMarked(_ head: Head, _ control: CacheControl) -> Bool {
        control.contains("public") || control.contains("private") || control.contains("max-age")
            || head.headers.contains("Expires") || HTTPCache.Options.isHeuristicallyCacheable(head.status)
    }

    /// Whether the response is the single byte range that was requested, with a consistent length.
    private static func isClearPart(_ stored: HTTPCache.Entry, _ incoming: CacheRequest) -> Bool {
        guard incoming.range != nil, let part = stored.part else { return false }
        return stored.headers[.contentLength].map { $0 == "\(part.bytes.count)" } ?? true
    }

    /// Whether a later request could use the response. False for a response that is stale immediately and permanently,
    /// and has no validator.
    private static func isWorthKeeping(_ stored: HTTPCache.Entry, _ incoming: CacheRequest) -> Bool {
        if stored.hasValidator { return true }
        let freshness = Freshness(stored, at: stored.responseTime)
        if freshness.control.isUnqualified("no-cache") { return false }
        if freshness.lifetime > 0 || incoming.policy == .returnStaleElseLoad { return true }
        let control = freshness.control
        return ["stale-while-revalidate", "stale-if-error"].contains { control.seconds($0) ?? 0 > 0 }
            || incoming.rules.staleIfError > .zero
    }

    /// Returns a stored response updated by a 304 (RFC 9111 §4.3.4), by a 200 to HEAD (§4.3.5) or by a partial response
    /// (§3.4); nil if that response is of another representation.
    ///
    /// A weak match of the tags is sufficient for a 304 and for HEAD: servers that compress send the weak form of a tag
    /// with one response and the strong form with the other. The stored tag stays. The bytes of partial responses are
    /// not combined: RFC 9111 makes that optional, and it costs a copy of the stored bytes for each part.
    static func freshened(_ stored: HTTPCache.Entry, by head: Head, _ incoming: CacheRequest) -> HTTPCache.Entry? {
        var head = head
        let (tag, changed) = (head.headers[.eTag], head.headers[.lastModified])
        let (oldTag, oldChanged) = (stored.headers[.eTag], stored.headers[.lastModified])
        let tags = (old: oldTag.flatMap { EntityTag($0) }, new: tag.flatMap { EntityTag($0) })
        guard head.status != .partialContent else {
            if let old = tags.old, let new = tags.new {
                guard new.matchesStrongly(old) else { return nil }
            } else {
                guard tags.old == nil, tags.new == nil, stored.hasStrongDate, changed != nil, changed == oldChanged
                else {
                    return nil
                }
            }
            head.headers.remove(.contentRange)
            head.headers.remove(.contentLength)
            return updated(stored, by: head, incoming)
        }
        if tag != nil, tag != oldTag {
            guard let old = tags.old, let new = tags.new, new.opaque == old.opaque else { return nil }
            head.headers[.eTag] = oldTag
        }
        if head.status == .notModified {
            if tag == nil, changed != nil, oldChanged != nil, changed != oldChanged { return nil }
        } else {
            if changed != nil, changed != oldChanged { return nil }
            let length = stored.part.map { $0.length.map { "\($0)" } } ?? stored.headers[.contentLength]
            if let new = head.headers[.contentLength], let length, new != length { return nil }
        }
        return updated(stored, by: head, incoming)
    }

    /// Returns a stored response with the fields of a newer response.
    static func updated(_ stored: HTTPCache.Entry, by head: Head, _ incoming: CacheRequest) -> HTTPCache.Entry {
        let fields = CacheFields.storable(head.headers, CacheControl(head.headers), receivedAt: head.responseTime)
        var result = stored
        result.headers = CacheFields.updated(stored.headers, with: fields)
        result.requestTime = head.requestTime
        result.responseTime = head.responseTime
        result.tags.formUnion(CacheFields.tags(head.headers))
        result.variant = CacheVariant.text(for: incoming.request.headers, result.headers) ?? stored.variant
        return result
    }

    /// Whether an updated response must no longer be stored: it has `no-store`, or a `Vary` that never matches.
    static func isForbidden(_ stored: HTTPCache.Entry) -> Bool {
        let control = CacheControl(stored.headers)
        return control.contains("no-store") && !control.permits("must-understand")
            || CacheVariant.names(stored.headers) == nil
    }

    /// Returns the URLs whose responses an unsafe request invalidates: its own, and those in `Location` and
    /// `Content-Location` at the same origin (RFC 9111 §4.4). Empty if the request is safe, or if its response is
    /// neither a success nor a redirect.
    static func invalidated(by request: HTTPRequest, _ status: HTTPStatus, _ headers: HTTPHeaders) -> Set<String> {
        guard !request.method.isSafe, status.isSuccess || status.isRedirection else { return [] }
        var targets: Set<String> = [request.urlString]
        for value in headers[values: .location] + headers[values: "Content-Location"] {
            guard let parts = try? URLParts(resolving: value, against: request.origin, target: request.target),
                parts.origin == request.origin
            else { continue }
            targets.insert(parts.origin.description + parts.target)
        }
        return targets
    }
}
