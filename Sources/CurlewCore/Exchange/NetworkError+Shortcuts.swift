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

/// Common questions about an error.
extension NetworkError {
    /// The status code, if a response arrived.
    public var statusCode: Int? { response?.status.code }

    /// True if the task or handle was cancelled. Typical use: `catch where error.isCancelled`.
    public var isCancelled: Bool { reason == .cancelled }

    /// True for 401, and if there was no valid credential.
    public var isUnauthorized: Bool {
        if case .notAuthenticated = reason { return true }
        return reason == .status(.unauthorized)
    }

    /// True for 403.
    public var isForbidden: Bool { reason == .status(.forbidden) }

    /// True for 404 or 410.
    public var isNotFound: Bool { reason == .status(.notFound) || reason == .status(.gone) }

    /// True for 429, and for 403 with fields that report an exhausted quota, as GitHub sends it.
    public var isRateLimited: Bool {
        if reason == .status(.forbidden), let response {
            return RateLimitStatus(response.headers, now: response.date)?.remaining == 0
        }
        return reason == .status(.tooManyRequests)
    }

    /// True for a status from 400 to 499.
    public var isClientError: Bool {
        if case .status(let status) = reason { status.isClientError } else { false }
    }

    /// True for a status from 500 to 599.
    public var isServerError: Bool {
        if case .status(let status) = reason { status.isServerError } else { false }
    }

    /// True if this machine has no network: the network is down, or there is no route. False if a single host cannot be
    /// reached or its name does not resolve.
    public var isOffline: Bool {
        guard reason == .unreachable, let underlying else { return false }
        guard let failure = underlying as? NetworkError.TransportFailure else {
            return SystemErrorCode(underlying).isOffline
        }
        return [ENETUNREACH, ENETDOWN].contains(failure.systemError)
    }

    /// True if the attempt reached no server: no network, no route to the host, or no address for its name.
    package var reachedNobody: Bool {
        guard reason == .unreachable, let underlying else { return false }
        guard let failure = underlying as? NetworkError.TransportFailure else {
            return SystemErrorCode(underlying).reachedNobody
        }
        return isOffline || failure.systemError == EHOSTUNREACH || failure.isFailedLookup
    }

    /// True if a phase timed out, or the server reported a timeout (408, 504).
    public var isTimeout: Bool {
        switch reason {
        case .timedOut, .status(.requestTimeout), .status(.gatewayTimeout): true
        default: false
        }
    }

    /// True if repeating the call may help, judged by the error alone. Whether repeating is *safe* depends on the
    /// request: only idempotent requests may be repeated.
    public var isRetryable: Bool {
        switch reason {
        case .status(let status): [408, 429, 500, 502, 503, 504].contains(status.code)
        case .refused(let policy): policy.mayPass
        default: reason.mayPass
        }
    }

    /// The time to wait before the call is repeated; at most a day.
    ///
    /// The delay that the server requested, counted from its response: `Retry-After` (RFC 9110 §10.2.3), else, for 403,
    /// 429 and 503, the `RateLimit` or `X-RateLimit` fields of an exhausted quota (`RateLimitStatus`). Otherwise the
    /// delay that the policy expects which refused to send (`.refused(by: .circuitBreaker)`, `.rateLimit`).
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

    /// The server's problem document (RFC 9457), if it sent one. Use `body(as:)` for extension members.
    public var problem: ProblemDetails? {
        guard let response, response.mediaType?.essence == "application/problem+json" else { return nil }
        return try? JSONDecoder().decode(ProblemDetails.self, from: response.body)
    }

    /// Decodes the server's error model from the body. Returns nil if there is no body, if decoding fails, or if the
    /// body is longer than `Limits.errorExcerpt`.
    ///
    /// - `codecs`: nil, the default, uses those of the call that failed, or `.json` for an error without a call.
    public func body<Model: Decodable>(as type: Model.Type = Model.self, codecs: Codecs? = nil) -> Model? {
        guard let response, !response.body.isEmpty, !response.isTruncated else { return nil }
        let codecs = codecs ?? self.codecs ?? .json
        return try? codecs.decode(type, from: response.body, mediaType: response.mediaType)
    }
}

extension NetworkError.Reason {
    /// True for a failure without a response that may be transient. Never for failures of TLS, of pins, or of the
    /// request itself.
    package var mayPass: Bool {
        switch self {
        case .unreachable, .timedOut, .connectionLost, .proxyFailed(.unreachable): true
        case .proxyFailed(.refused(let status?)): [502, 503, 504].contains(status.code)
        default: false
        }
    }

    /// True if the server certainly received nothing of the request.
    package var notReceived: Bool {
        switch self {
        case .unreachable, .connectionLost(.requestNotSent), .proxyFailed, .timedOut(.queue): true
        default: false
        }
    }
}
