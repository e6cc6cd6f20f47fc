// SPDX-License-Identifier: MIT

import CurlewFoundation
public import CurlewHTTP

/// Properties for common checks of an error.
extension NetworkError {
    /// The status code of the response; nil if no response arrived.
    public var statusCode: Int? { response?.status.code }

    /// Whether the task or the handle was cancelled. Typical use: `catch where error.isCancelled`.
    public var isCancelled: Bool { reason == .cancelled }

    /// Whether the status is 401, or the call had no valid credential (`.notAuthenticated`). False if tokens could not
    /// be refreshed (`.refreshFailed`), because the user is still signed in.
    public var isUnauthorized: Bool {
        if case .notAuthenticated(let failure) = reason { return failure != .refreshFailed }
        return reason == .status(.unauthorized)
    }

    /// Whether the status is 403 (Forbidden).
    public var isForbidden: Bool { reason == .status(.forbidden) }

    /// Whether the status is 404 (Not Found) or 410 (Gone).
    public var isNotFound: Bool { reason == .status(.notFound) || reason == .status(.gone) }

    /// Whether the status is 429 (Too Many Requests), or 403 with fields that report an exhausted quota, as from
    /// GitHub.
    public var isRateLimited: Bool {
        if reason == .status(.forbidden), let response {
            return RateLimitStatus(response.headers, now: response.date)?.remaining == 0
        }
        return reason == .status(.tooManyRequests)
    }

    /// Whether the status is from 400 to 499.
    public var isClientError: Bool {
        if case .status(let status) = reason { status.isClientError } else { false }
    }

    /// Whether the status is from 500 to 599.
    public var isServerError: Bool {
        if case .status(let status) = reason { status.isServerError } else { false }
    }

    /// Whether this device has no network: the network is down, or there is no route. False if a single host cannot be
    /// reached or its name does not resolve.
    public var isOffline: Bool {
        guard reason == .unreachable, let underlying else { return false }
        guard let failure = underlying as? NetworkError.TransportFailure else {
            return SystemErrorCode(underlying).isOffline
        }
        return [ENETUNREACH, ENETDOWN].contains(failure.systemError)
    }

    /// Whether the attempt reached no server: there was no network, no route to the host, or no address for its name.
    var reachedNoServer: Bool {
        guard reason == .unreachable, let underlying else { return false }
        guard let failure = underlying as? NetworkError.TransportFailure else {
            return SystemErrorCode(underlying).reachedNoServer
        }
        // CURLE_COULDNT_RESOLVE_HOST, NSURLErrorCannotFindHost and NSURLErrorDNSLookupFailed.
        return isOffline || failure.systemError == EHOSTUNREACH || [6, -1003, -1006].contains(failure.code)
    }

    /// Whether a phase timed out, or the server reported a timeout (408, 504).
    public var isTimeout: Bool {
        switch reason {
        case .timedOut, .status(.requestTimeout), .status(.gatewayTimeout): true
        default: false
        }
    }

    /// Whether the call may succeed if it is repeated: after a transient failure without a response, after a refusal by
    /// a policy with `mayPass`, and for 408, 429, 500, 502, 503 and 504. Whether repeating is *safe* depends on the
    /// request: only idempotent requests may be repeated. For a failed refresh of tokens, the error of the refresh
    /// decides.
    public var isRetryable: Bool {
        if let refresh { return refresh.isRetryable }
        return switch reason {
        case .status(let status): [408, 429, 500, 502, 503, 504].contains(status.code)
        case .refused(let policy): policy.mayPass
        default: reason.mayPass
        }
    }

    /// The time to wait before the call is repeated, at most one day; nil if it is unknown.
    ///
    /// If a policy refused to send (`.refused(by: .circuitBreaker)`, `.rateLimit`), this is the delay that the policy
    /// expects; after a failed refresh of tokens, that of the refresh. Otherwise it is the delay that the server
    /// requested, counted from its response:
    ///
    /// - the `Retry-After` field (RFC 9110 §10.2.3)
    /// - without that field, for 403, 429 and 503: the `RateLimit` or `X-RateLimit` fields of an exhausted quota
    public var retryAfter: Duration? {
        if let expectedWait { return min(expectedWait, .seconds(86_400)) }
        if let refresh { return refresh.retryAfter }
        guard let response else { return nil }
        if let wait = response.headers.retryAfter(now: response.date) { return min(wait, .seconds(86_400)) }
        guard [.forbidden, .tooManyRequests, .serviceUnavailable].contains(response.status),
            let quota = RateLimitStatus(response.headers, status: response.status, now: response.date),
            quota.remaining == 0, let reset = quota.reset
        else { return nil }
        return min(reset, .seconds(86_400))
    }

    /// The error of a refresh of tokens that failed; nil for any other error.
    private var refresh: NetworkError? {
        reason == .notAuthenticated(.refreshFailed) ? underlying as? NetworkError : nil
    }

    /// The problem document (RFC 9457) that the server sent; nil if there is none, or if it cannot be decoded. For
    /// extension members, use `body(as:)`.
    public var problem: ProblemDetails? {
        guard let response, response.mediaType?.essence == "application/problem+json" else { return nil }
        return try? JSONDecoder().decode(ProblemDetails.self, from: response.body)
    }

    /// Decodes the server's error model from the body. Returns nil if there is no body, if decoding fails, or if the
    /// body is longer than `Limits.errorExcerpt`.
    ///
    /// - `codecs`: the codecs to use. Default nil: the codecs of the call that failed, or `.json` for an error without
    ///   a call.
    public func body<Model: Decodable>(as type: Model.Type = Model.self, codecs: Codecs? = nil) -> Model? {
        guard let response, !response.body.isEmpty, !response.isTruncated else { return nil }
        let codecs = codecs ?? self.codecs ?? .json
        return try? codecs.decode(type, from: response.body, mediaType: response.mediaType)
    }
}

extension NetworkError.Reason {
    /// Whether this is a failure without a response that may be transient. False for failures of TLS, of pins, and of
    /// the request itself.
    package var mayPass: Bool {
        switch self {
        case .unreachable, .timedOut, .connectionLost, .proxyFailed(.unreachable): true
        case .proxyFailed(.refused(let status?)): [502, 503, 504].contains(status.code)
        default: false
        }
    }

    /// Whether the server cannot have received any part of the request.
    package var notReceived: Bool {
        switch self {
        case .unreachable, .connectionLost(.requestNotSent), .proxyFailed, .timedOut(.queue): true
        default: false
        }
    }
}
