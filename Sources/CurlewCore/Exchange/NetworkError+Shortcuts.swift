// SPDX-License-Identifier: MIT

public import CurlewHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Questions as people ask them.
extension NetworkError {
    /// The status code, when the server answered at all.
    public var statusCode: Int? { response?.status.code }

    /// The task or handle was cancelled. The idiom is `catch where error.isCancelled`.
    public var isCancelled: Bool { reason == .cancelled }

    /// 401, or no valid credential to begin with.
    public var isUnauthorized: Bool {
        if case .notAuthenticated = reason { return true }
        return reason == .status(.unauthorized)
    }

    /// 403.
    public var isForbidden: Bool { reason == .status(.forbidden) }

    /// 404 or 410.
    public var isNotFound: Bool { reason == .status(.notFound) || reason == .status(.gone) }

    /// 429, or 403 with fields that leave nothing of a quota, as GitHub answers.
    public var isRateLimited: Bool {
        if reason == .status(.forbidden), let response {
            return RateLimitStatus(response.headers, now: response.date)?.remaining == 0
        }
        return reason == .status(.tooManyRequests)
    }

    /// A status from 400 to 499.
    public var isClientError: Bool {
        if case .status(let status) = reason { status.isClientError } else { false }
    }

    /// A status from 500 to 599.
    public var isServerError: Bool {
        if case .status(let status) = reason { status.isServerError } else { false }
    }

    /// This machine has no way to the network: its network is down, or no route leads out. False for one host that cannot be
    /// reached or whose name has no address.
    public var isOffline: Bool {
        guard reason == .unreachable, let underlying else { return false }
        guard let failure = underlying as? TransportFailure else { return SystemErrorCode(underlying).isOffline }
        return [ENETUNREACH, ENETDOWN].contains(failure.systemError)
    }

    /// No server heard of the attempt: no network, no route to the host, or no address for its name.
    package var reachedNobody: Bool {
        guard reason == .unreachable, let underlying else { return false }
        guard let failure = underlying as? TransportFailure else { return SystemErrorCode(underlying).reachedNobody }
        return isOffline || failure.systemError == EHOSTUNREACH || failure.isFailedLookup
    }

    /// Any phase took too long, or the server said so (408, 504).
    public var isTimeout: Bool {
        switch reason {
        case .timedOut, .status(.requestTimeout), .status(.gatewayTimeout): true
        default: false
        }
    }

    /// Trying the same call again may help, as far as the error alone can tell. Whether it is *safe* depends on the
    /// request: only idempotent work may be repeated.
    public var isRetryable: Bool {
        switch reason {
        case .status(let status): [408, 429, 500, 502, 503, 504].contains(status.code)
        case .refused(by: .circuitBreaker), .refused(by: .rateLimit), .refused(by: .concurrencyLimit),
            .refused(by: .overload):
            true
        default: reason.mayPass
        }
    }

    /// How long to wait before the call is worth another try; at most a day.
    ///
    /// What the server asks for, from when it answered: `Retry-After` (RFC 9110 §10.2.3), else, for 403, 429 and 503, the
    /// `RateLimit` or `X-RateLimit` fields that leave nothing (`RateLimitStatus`). Or what the policy that refused to send
    /// expects (`.refused(by: .circuitBreaker)`, `.rateLimit`).
    public var retryAfter: Duration? {
        if let expectedWait { return min(expectedWait, .seconds(86_400)) }
        guard let response else { return nil }
        if let value = response.headers[.retryAfter], let hint = RetryAfter(value) {
            return min(hint.delay(now: response.date), .seconds(86_400))
        }
        guard [.forbidden, .tooManyRequests, .serviceUnavailable].contains(response.status),
            let quota = RateLimitStatus(response.headers, status: response.status, now: response.date),
            quota.remaining == 0, let reset = quota.reset
        else { return nil }
        return min(reset, .seconds(86_400))
    }

    /// The server's problem document (RFC 9457), when it sent one. Members of its own: `body(as:)`.
    public var problem: ProblemDetails? {
        guard let response, response.mediaType?.essence == "application/problem+json" else { return nil }
        return try? JSONDecoder().decode(ProblemDetails.self, from: response.body)
    }

    /// The server's own error model, decoded from the body; nil when there is none, when it is something else, and when it
    /// is longer than `Limits.errorExcerpt`.
    ///
    /// - `codecs`: nil, the default, takes those of the call that failed, and `.json` for an error that was made by hand.
    public func body<Model: Decodable>(as type: Model.Type = Model.self, codecs: Codecs? = nil) -> Model? {
        guard let response, !response.body.isEmpty, !response.isTruncated else { return nil }
        let codecs = codecs ?? self.codecs ?? .json
        return try? codecs.decode(type, from: response.body, mediaType: response.mediaType)
    }
}

extension NetworkError.Reason {
    /// A failure without an answer that another try may not meet. Never one of TLS, of pins, or of the request itself.
    package var mayPass: Bool {
        switch self {
        case .unreachable, .timedOut, .connectionLost, .proxyFailed(.unreachable): true
        case .proxyFailed(.refused(let status?)): [502, 503, 504].contains(status.code)
        default: false
        }
    }

    /// The server certainly got nothing of the request.
    package var neverArrived: Bool {
        switch self {
        case .unreachable, .connectionLost(.requestNotSent), .proxyFailed, .timedOut(.queue): true
        default: false
        }
    }
}
