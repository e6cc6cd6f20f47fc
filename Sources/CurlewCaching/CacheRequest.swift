// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// A request, with its key and everything else that the cache needs for its decisions. A class, because a lookup passes
/// it on many times, and copies of a struct would retain many references.
final class CacheRequest: Sendable {
    let request: HTTPRequest
    /// The key, which includes the request's principal.
    let key: HTTPCache.Entry.Key
    let control: CacheControl
    let policy: HTTPCache.Policy
    let rules: HTTPCache.Options
    /// The byte range that a GET requests, if it requests exactly one.
    let range: ByteRange?

    /// The maximum number of bytes of a body that becomes a part of a key.
    static let maximumKeyBytes = 1 << 20

    init(
        _ request: HTTPRequest, _ key: HTTPCache.Entry.Key, policy: HTTPCache.Policy = .useProtocol,
        rules: HTTPCache.Options = .standard
    ) {
        self.request = request
        self.key = key
        self.policy = policy
        self.rules = rules
        let pragma = request.headers.contains(.cacheControl) ? nil : request.headers["Pragma"]
        if pragma?.lowercased().contains("no-cache") == true {
            // `Pragma: no-cache` is the equivalent of HTTP/1.0. It applies only without `Cache-Control` (RFC 9111
            // §5.4).
            control = CacheControl("no-cache")
        } else {
            control = CacheControl(request.headers)
        }
        range = request.method == .get ? request.headers[.range].flatMap { ByteRange($0) } : nil
    }

    /// Returns the content part of the key (`HTTPCache.Entry.Key.content`), or the reason why the request has no key.
    static func content(of request: HTTPRequest, _ options: RequestOptions) -> Result<String?, CacheReason> {
        // A body that is still encoded and its decoded form are different responses.
        let raw = options.skipsContentDecoding == true ? "raw " : ""
        if request.body.isEmpty, request.method == .get || request.method == .head {
            return .success(options.skipsContentDecoding == true ? "raw" : nil)
        }
        guard isKeyed(request.method) else { return .failure(.method(request.method.rawValue)) }
        guard options.cacheKeyIncludesBody else {
            return .failure(request.method == .post ? .method("POST") : .bodyIsNoKey)
        }
        guard request.body.length ?? .max <= maximumKeyBytes, let body = request.body.data else {
            return .failure(.bodyIsUnknown)
        }
        var bytes = Data()
        for name in [HTTPField.Name.contentType, .contentEncoding, "Content-Language"] {
            let value = request.headers[name]
            bytes.append(contentsOf: (value.map { "\($0.utf8.count):\($0)\n" } ?? "-\n").utf8)
        }
        bytes.append(body)
        return .success("\(raw)\(request.method.rawValue) \(MessageDigest.sha256(bytes).hexText)")
    }

    private static func isKeyed(_ method: HTTPMethod) -> Bool {
        method == .get || method == .query || method == .post
    }

    /// Whether a response that the server validated for another call may be used for this one. The updated fields may
    /// have changed whether it may be stored.
    func takes(_ fresh: HTTPCache.Entry) -> Bool {
        fresh.key == key && fresh.matches(request.headers) && !StorageDecision.isForbidden(fresh)
    }

    /// Whether the call requests validation, however fresh the response is (RFC 9111 §5.2.1.4).
    var asksToValidate: Bool { policy == .validate || control.contains("no-cache") }

    /// Whether no request may be sent (RFC 9111 §5.2.1.7).
    var takesOnlyStored: Bool { policy == .onlyIfCached || control.contains("only-if-cached") }

    /// Whether no part of the response may be stored.
    var keepsNothing: Bool { policy == .noStore || control.contains("no-store") }

    /// Whether the request has preconditions that a cache must forward to the server (RFC 9111 §4.3.2).
    var hasServerPreconditions: Bool {
        request.headers.contains(.ifMatch) || request.headers.contains("If-Unmodified-Since")
    }

    /// Whether the caller validates its own copy with preconditions.
    var hasOwnValidators: Bool {
        request.headers.contains(.ifNoneMatch) || request.headers.contains(.ifModifiedSince)
    }

    /// Whether a response contains all requested bytes, in the requested form.
    func isSatisfied(by stored: HTTPCache.Entry) -> Bool {
        guard stored.status == .partialContent else { return true }
        guard let part = stored.part, let range, ifRangeMatches(stored) else { return false }
        guard let length = part.length else {
            guard case .from(let first, .some(let last)) = range else { return false }
            return part.bytes.contains(first) && part.bytes.contains(last)
        }
        guard let bytes = range.bytes(of: length) else { return false }
        return part.bytes.lowerBound <= bytes.lowerBound && bytes.upperBound <= part.bytes.upperBound
    }

    /// Whether `If-Range` allows a range of this response: it contains the same strong tag or the same strong date (RFC
    /// 9110 §13.1.5). True without `If-Range`.
    func ifRangeMatches(_ stored: HTTPCache.Entry) -> Bool {
        guard let condition = request.headers["If-Range"] else { return true }
        if let tag = EntityTag(condition) {
            return stored.headers[.eTag].flatMap { EntityTag($0) }?.matchesStrongly(tag) == true
        }
        return condition == stored.headers[.lastModified] && stored.hasStrongDate
    }
}

extension HTTPCache.Entry {
    /// The bytes of the representation that the body contains; nil for a complete response, and for a partial one
    /// without a valid `Content-Range`.
    var part: ContentRange? {
        status == .partialContent ? headers[.contentRange].flatMap { ContentRange($0) } : nil
    }

    /// Whether `Last-Modified` is a strong validator: the response was generated at least one second after it (RFC 9110
    /// §8.8.2.2).
    var hasStrongDate: Bool {
        guard let changed = CacheDate.modified(headers, now: responseTime) else { return false }
        return CacheDate.made(self).timeIntervalSince(changed) >= 1
    }

    /// Whether the response has a validator: an `ETag` or a valid `Last-Modified`.
    var hasValidator: Bool {
        headers.contains(.eTag) || CacheDate.modified(headers, now: responseTime) != nil
    }

    /// Whether the stored body has the bytes that the server described. If the transport has decoded the body, its
    /// length differs from `Content-Length`.
    var isIdentity: Bool {
        !headers.contains(.contentEncoding) && headers[.contentLength] == "\(bodyLength)"
    }
}
