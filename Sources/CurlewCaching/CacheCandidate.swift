// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// A stored response that may be used for a request, with its freshness and the reason for using it. A class, because
/// copies of a struct would retain many references.
final class CacheCandidate: Sendable {
    let stored: HTTPCache.Entry
    let freshness: Freshness
    /// The reason for using or validating the response.
    let cause: CacheReason
    /// The reason for using the response although it is stale; nil unless it is used stale.
    let staleReason: String?

    init(_ stored: HTTPCache.Entry, at now: Date) {
        self.stored = stored
        freshness = Freshness(stored, at: now)
        cause = freshness.isHeuristic ? .heuristicallyFresh : .fresh
        staleReason = nil
    }

    private init(_ other: CacheCandidate, _ cause: CacheReason, staleReason: String?) {
        stored = other.stored
        freshness = other.freshness
        self.cause = cause
        self.staleReason = staleReason
    }

    func because(_ cause: CacheReason) -> CacheCandidate { CacheCandidate(self, cause, staleReason: staleReason) }

    func stale(because reason: String) -> CacheCandidate { CacheCandidate(self, cause, staleReason: reason) }

    /// The status of the response that is served without validation.
    var status: HTTPCache.Status {
        let (age, left) = (freshness.age, freshness.lifetime - freshness.age)
        return HTTPCache.Status(
            staleReason.map { .stale(because: $0) } ?? .cache(age: .seconds(age), freshFor: .seconds(max(0, left))),
            cause)
    }

    /// Selects the stored response for a request. Of the responses that match, those with a `Vary` are preferred, then
    /// the most recent one (RFC 9111 §4 and §4.1).
    static func among(
        _ variants: [HTTPCache.Entry], for incoming: CacheRequest, at now: Date
    ) -> Result<CacheCandidate, CacheReason> {
        if variants.isEmpty { return .failure(.nothingStored) }
        // The usual case: one response without `Vary`.
        if variants.count == 1, let one = variants.first, !one.headers.contains(.vary), incoming.isSatisfied(by: one) {
            return .success(CacheCandidate(one, at: now))
        }
        let matching = variants.filter { $0.matches(incoming.request.headers) }
        guard !matching.isEmpty else { return .failure(.nothingMatches) }
        var best: (stored: HTTPCache.Entry, made: Date)?
        for stored in matching where incoming.isSatisfied(by: stored) {
            let made = CacheDate.made(stored)
            guard let old = best else {
                best = (stored, made)
                continue
            }
            let (has, had) = (stored.headers.contains(.vary), old.stored.headers.contains(.vary))
            if has == had ? made > old.made : has { best = (stored, made) }
        }
        guard let best else { return .failure(.onlyPartsStored) }
        return .success(CacheCandidate(best.stored, at: now))
    }

    /// Returns the reason why the response must not be used without validation; nil if it may be used.
    func obstacle(for incoming: CacheRequest) -> CacheReason? {
        if freshness.control.isUnqualified("no-cache") { return .responseRequiresValidation }
        if incoming.policy == .validate { return .callRequiresValidation }
        if incoming.policy != .returnStaleElseLoad, let obstacle = requestObstacle(incoming) { return obstacle }
        if freshness.clockWentBack { return .clockWentBack }
        return freshness.isFresh ? nil : .stale(seconds: Int(freshness.staleness))
    }

    /// Returns the reason why a directive of the request (RFC 9111 §5.2.1) prevents the use of the response; nil if
    /// none does.
    func requestObstacle(_ incoming: CacheRequest) -> CacheReason? {
        let control = incoming.control
        if control.directives.isEmpty { return nil }
        if control.contains("no-cache") { return .callRequiresValidation }
        // A fresh `immutable` response may be used even if it is older than the request's `max-age` (RFC 8246 §2).
        let isImmutable = freshness.isFresh && freshness.control.permits("immutable")
        if let maximum = control.seconds("max-age"), freshness.age > Double(maximum), !isImmutable {
            return .olderThanAccepted
        }
        if let minimum = control.seconds("min-fresh"), freshness.lifetime - freshness.age < Double(minimum) {
            // `stalePermission` decides about a stale response, with `max-stale`.
            return freshness.isFresh ? .lessFreshThanRequired : nil
        }
        return nil
    }

    /// Returns the reason why the response may be used although it is stale, and whether to revalidate it in the
    /// background (RFC 9111 §4.2.4, RFC 5861 §3); nil if it must not be used.
    func stalePermission(
        for incoming: CacheRequest, _ obstacle: CacheReason
    ) -> (reason: String, refreshes: Bool)? {
        switch obstacle {
        case .stale, .clockWentBack: break
        default: return nil
        }
        guard !freshness.forbidsStale else { return nil }
        let seconds = Int(freshness.staleness)
        if incoming.policy == .returnStaleElseLoad { return ("the call accepts a stored response", false) }
        guard !freshness.clockWentBack else { return nil }
        if incoming.control.seconds("min-fresh") ?? 0 > 0 { return nil }
        if let maximum = incoming.maxStale, freshness.staleness <= Double(maximum) {
            return ("the call accepts responses that are stale by \(seconds) s (max-stale)", false)
        }
        if let maximum = freshness.control.seconds("stale-while-revalidate"), freshness.staleness <= Double(maximum) {
            return ("it is stale by \(seconds) s", true)
        }
        return nil
    }

    /// Returns the request with the validators of the stored response (RFC 9111 §4.3.1). Returns nil for POST, for a
    /// request with the caller's own validators, and for a response that is neither a success nor a redirect or that
    /// has no validator to send.
    func conditional(_ incoming: CacheRequest) -> HTTPRequest? {
        var request = incoming.request
        guard !incoming.hasOwnValidators, request.method != .post,
            stored.status.isSuccess || stored.status.isRedirection
        else { return nil }
        if incoming.policy == .validate { request.addCacheDirective("no-cache") }
        let tag = stored.headers[.eTag]
        if let tag { request.headers[.ifNoneMatch] = tag }
        let isForPart = request.headers.contains(.range)
        if !isForPart, CacheDate.modified(stored.headers, now: stored.responseTime) != nil {
            request.headers[.ifModifiedSince] = stored.headers[.lastModified]
        }
        let hasDate = request.headers.contains(.ifModifiedSince)
        // An `ETag` from the store may contain bytes that are not valid in a request field.
        guard request.headers.contains(.ifNoneMatch) || hasDate, request.headers.problem == nil else { return nil }
        return request
    }
}

extension CacheRequest {
    /// The staleness in seconds that `max-stale` accepts: `.max` without a number (RFC 9111 §5.2.1.2), nil without the
    /// directive.
    fileprivate var maxStale: Int? {
        guard control.contains("max-stale") else { return nil }
        return control.permits("max-stale") ? .max : control.seconds("max-stale")
    }
}

extension HTTPCache.Entry {
    /// Whether the request has the same values as the original request in the fields that `Vary` names (RFC 9111 §4.1).
    func matches(_ request: HTTPHeaders) -> Bool {
        CacheVariant.text(for: request, headers) == variant
    }
}

extension CacheCandidate {
    /// Returns this candidate with a reason that says whether the response is being revalidated in the background
    /// (`stale-while-revalidate`, RFC 5861 §3).
    func refreshed(_ refresh: CacheFetches.Refresh) -> CacheCandidate {
        let what =
            switch refresh {
            case .begun, .underWay: "refreshed in the background (stale-while-revalidate)"
            case .tooMany: "not refreshed now, because enough other responses are being refreshed"
            }
        return stale(because: "\(staleReason ?? "it is stale"), and \(what)")
    }
}

/// The request fields that select a representation, as a string that is equal for equivalent fields (RFC 9111 §4.1).
enum CacheVariant {
    /// The maximum number of bytes of the string. A hash replaces a longer string.
    private static let maximumLength = 512

    /// Returns the names in `Vary`, in lower case and sorted; nil for `*` and for a value that is not a list of names.
    static func names(_ headers: HTTPHeaders) -> [String]? {
        guard let vary = headers[.vary] else { return [] }
        var names: Set<String> = []
        for member in vary.parts(",") {
            let name = member.trimmed().lowercased()
            if name.isEmpty { continue }
            guard name != "*", HTTPField.Name(name).isValid else { return nil }
            names.insert(name)
        }
        return names.ordered(by: <)
    }

    private static let lists: Set<String> = [
        "accept", "accept-charset", "accept-encoding", "accept-language", "prefer",
    ]

    /// Returns the secondary key (RFC 9111 §4.1) for a request and the `Vary` of a response; nil if the response never
    /// matches another request.
    static func text(for request: HTTPHeaders, _ response: HTTPHeaders) -> String? {
        guard let names = names(response) else { return nil }
        if names.isEmpty { return "" }
        var isSecret = false
        var text = ""
        for name in names {
            let field = HTTPField.Name(name)
            isSecret = isSecret || request.isSecret(field)
            text += name
            // An absent field matches only an absent field.
            if request.contains(field) {
                let value = normalised(request[values: field], name)
                text += "=\(value.utf8.count):\(value)"
            }
            text += "\n"
        }
        return isSecret || text.utf8.count > maximumLength ? MessageDigest.sha256(Data(text.utf8)).hexText : text
    }

    /// Returns the value of a field in a form that is equal for equivalent values (RFC 9111 §4.1). In fields that are
    /// known to be lists, white space around separators is removed, and case and order are ignored where the field
    /// allows it. In other fields white space may be a part of the value.
    private static func normalised(_ lines: [String], _ name: String) -> String {
        let value = lines.joined(separator: ", ")
        guard lists.contains(name), !value.holds("\"") else { return value }
        let members = value.parts(",").map { member in
            member.parts(";", keepingEmpty: true).map { $0.trimmed() }.joined(separator: ";")
        }.filter { !$0.isEmpty }
        switch name {
        case "accept-encoding", "accept-charset":
            return members.map { $0.lowercased() }.ordered(by: <).joined(separator: ",")
        case "accept-language": return members.map { $0.lowercased() }.joined(separator: ",")
        case "accept": return members.ordered(by: <).joined(separator: ",")
        default: return members.joined(separator: ",")
        }
    }
}
