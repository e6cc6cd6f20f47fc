// SPDX-License-Identifier: MIT

import CurlewHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A request as a cache sees it. One object: a lookup hands it on many times, and it holds many references.
final class CacheQuestion: Sendable {
    let request: HTTPRequest
    /// The key of the party that asks; `common` if the principal is unknown.
    let key: CacheKey
    /// That of public answers, which are for everybody.
    let common: CacheKey
    /// Why only public answers are kept; nil if those for one party are too.
    let reservation: CacheCause?
    let control: CacheControl
    let policy: CachePolicy
    let rules: CacheRules
    /// The one range of bytes that a GET asks for, if it asks for one.
    let range: ByteRange?

    /// The most bytes of a body that becomes a part of a key.
    static let mostKeyBytes = 1 << 20

    init(
        _ request: HTTPRequest, _ key: CacheKey, common: CacheKey? = nil, reservation: CacheCause? = nil,
        policy: CachePolicy = .useProtocol, rules: CacheRules = .standard
    ) {
        self.request = request
        self.key = key
        self.common = common ?? key
        self.reservation = reservation
        self.policy = policy
        self.rules = rules
        if !request.headers.contains(.cacheControl), request.headers[.pragma]?.lowercased().contains("no-cache") == true
        {
            // What HTTP/1.0 had in its place; it counts only where Cache-Control is absent (RFC 9111 §5.4).
            control = CacheControl("no-cache")
        } else {
            control = CacheControl(request.headers)
        }
        range = request.method == .get ? request.headers[.range].flatMap { ByteRange($0) } : nil
    }

    /// What is asked, for a key; or why nothing is looked up.
    static func content(of request: HTTPRequest, _ options: RequestOptions) -> Result<String?, Refusal> {
        // Bytes as they came are another answer than decoded ones.
        let raw = options.rawBody == true ? "raw " : ""
        if request.body.isEmpty, request.method == .get || request.method == .head {
            return .success(options.rawBody == true ? "raw" : nil)
        }
        guard isKeyed(request.method) else { return .failure(Refusal(.method(request.method.rawValue))) }
        guard options.cacheKeyIncludesBody else {
            return .failure(Refusal(request.method == .post ? .method("POST") : .bodyIsNoKey))
        }
        guard request.body.length ?? .max <= mostKeyBytes, let body = request.body.data else {
            return .failure(Refusal(.bodyIsUnknown))
        }
        var bytes = Data()
        for name in [HTTPField.Name.contentType, .contentEncoding, .contentLanguage] {
            let value = request.headers[name]
            bytes.append(contentsOf: (value.map { "\($0.utf8.count):\($0)\n" } ?? "-\n").utf8)
        }
        bytes.append(body)
        return .success("\(raw)\(request.method.rawValue) \(MessageDigest.sha256(bytes).hexText)")
    }

    /// Why a request has no key.
    struct Refusal: Error {
        let cause: CacheCause

        init(_ cause: CacheCause) { self.cause = cause }
    }

    private static func isKeyed(_ method: HTTPMethod) -> Bool {
        method == .get || method == .query || method == .post
    }

    /// True for a response with these fields that may be used for every principal: the server says `public`
    /// (RFC 9111 §5.2.2.9) and for how long, neither `no-store` nor `no-cache`, and nothing in it was selected by or is
    /// meant for one party. What the app says of lifetimes does not count here.
    func isForEverybody(_ headers: HTTPHeaders, _ status: HTTPStatus) -> Bool {
        guard rules.sharesPublic, !headers.contains(.setCookie), let names = CacheVariant.names(headers) else {
            return false
        }
        guard status.isSuccess || status.isRedirection || status == .notFound || status == .gone else { return false }
        let control = CacheControl(headers)
        return control.permits("public") && !control.contains("private") && !control.contains("no-store")
            && !control.isUnqualified("no-cache")
            && (control.contains("max-age") || headers.contains(.expires))
            && names.allSatisfy { HTTPField.Name($0).isHarmless || HTTPField.Name($0) == .origin }
    }

    /// The key of an answer with these fields; nil if it is not kept.
    func key(for headers: HTTPHeaders, _ status: HTTPStatus) -> CacheKey? {
        if isForEverybody(headers, status) { return common }
        return reservation == nil ? key : nil
    }

    /// Whether a response that the server has called good to another call is for this one too: what the server said
    /// then may have changed whom it is for, and whether it is kept.
    func takes(_ fresh: StoredResponse) -> Bool {
        guard fresh.matches(request.headers), !CacheIntake.isForbidden(fresh, rules) else { return false }
        return reservation == nil && fresh.key == key || isForEverybody(fresh.headers, fresh.status)
    }

    /// True if the call itself asks for a validation, however fresh the response is (RFC 9111 §5.2.1.4).
    var asksToValidate: Bool { policy == .validate || control.contains("no-cache") }

    /// True if nothing may be sent (RFC 9111 §5.2.1.7).
    var takesOnlyStored: Bool { policy == .onlyIfCached || control.contains("only-if-cached") }

    /// True if nothing of the answer may be kept.
    var keepsNothing: Bool { policy == .noStore || control.contains("no-store") }

    /// Preconditions that a cache must leave to the server (RFC 9111 §4.3.2).
    var hasServerPreconditions: Bool {
        request.headers.contains(.ifMatch) || request.headers.contains(.ifUnmodifiedSince)
    }

    /// Preconditions by which the caller validates something of its own.
    var hasOwnValidators: Bool {
        request.headers.contains(.ifNoneMatch) || request.headers.contains(.ifModifiedSince)
    }

    /// Whether the bytes that are asked for are all in a response, and in no other form.
    func isAnswered(by stored: StoredResponse) -> Bool {
        guard stored.status == .partialContent else { return true }
        guard let part = stored.part, let range, ifRangeMatches(stored) else { return false }
        guard let length = part.length else {
            guard case .from(let first, .some(let last)) = range else { return false }
            return part.bytes.contains(first) && part.bytes.contains(last)
        }
        guard let bytes = range.bytes(of: length) else { return false }
        return part.bytes.lowerBound <= bytes.lowerBound && bytes.upperBound <= part.bytes.upperBound
    }

    /// Whether `If-Range` lets a range of this response through (RFC 9110 §13.1.5): by a strong tag or the very date.
    func ifRangeMatches(_ stored: StoredResponse) -> Bool {
        guard let condition = request.headers[.ifRange] else { return true }
        if let tag = EntityTag(condition) {
            return stored.headers[.eTag].flatMap { EntityTag($0) }?.matchesStrongly(tag) == true
        }
        return condition == stored.headers[.lastModified] && stored.hasStrongDate
    }
}

extension StoredResponse {
    /// The bytes of the representation that the body holds; nil for complete responses.
    var part: ContentRange? {
        status == .partialContent ? headers[.contentRange].flatMap { ContentRange($0) } : nil
    }

    /// `Last-Modified` is a strong validator if the response was made a second or more after it (RFC 9110 §8.8.2.2).
    var hasStrongDate: Bool {
        guard let changed = CacheDate.modified(headers, now: responseTime) else { return false }
        return CacheDate.made(self).timeIntervalSince(changed) >= 1
    }

    /// Something to validate it by.
    var hasValidator: Bool {
        headers.contains(.eTag) || CacheDate.modified(headers, now: responseTime) != nil
    }

    /// True if the body has the very bytes that the server described: what the engine has decoded has lost its length.
    var isIdentity: Bool {
        !headers.contains(.contentEncoding) && headers[.contentLength] == "\(bodyLength)"
    }
}
