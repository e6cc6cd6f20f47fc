// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// The cache's decision about a request (RFC 9111 §4), made from the stored responses and the time. No I/O.
enum CacheDecision: Sendable {
    /// Return a stored response. If `refresh` is true, also revalidate it in the background.
    case serve(CacheCandidate, refresh: Bool)
    /// Validate a stored response with this conditional request.
    case revalidate(CacheCandidate, HTTPRequest)
    /// Fetch a new response. `standIn` is a stored response that may be used if the server fails.
    case fetch(standIn: CacheCandidate?, because: CacheReason)
    /// Return a locally generated 504, and send no request.
    case refuse(because: CacheReason)

    /// Returns the decision about a request, given the stored responses of its key.
    static func about(_ incoming: CacheRequest, _ variants: [HTTPCache.Entry], at now: Date) -> CacheDecision {
        if incoming.policy == .reload { return .fetch(standIn: nil, because: .callReloads) }
        let chosen: CacheCandidate
        switch CacheCandidate.among(variants, for: incoming, at: now) {
        case .success(let choice): chosen = choice
        case .failure(let cause):
            if incoming.takesOnlyStored { return .refuse(because: .onlyIfCached) }
            return .fetch(standIn: nil, because: cause)
        }
        if incoming.hasServerPreconditions {
            if incoming.takesOnlyStored { return .refuse(because: .onlyIfCached) }
            return .fetch(standIn: nil, because: .callHasPreconditions)
        }
        let obstacle = chosen.obstacle(for: incoming)
        guard let obstacle else { return .serve(chosen, refresh: false) }
        if let permission = chosen.stalePermission(for: incoming, obstacle) {
            let refresh = permission.refreshes && !incoming.takesOnlyStored
            return .serve(chosen.stale(because: permission.reason), refresh: refresh)
        }
        if incoming.takesOnlyStored { return .refuse(because: .onlyIfCached) }
        guard let conditional = chosen.conditional(incoming) else { return .fetch(standIn: chosen, because: obstacle) }
        return .revalidate(chosen.because(obstacle), conditional)
    }

    /// The decision after the server failed or sent no response.
    enum AfterFailure: Sendable {
        /// Return the stored response (RFC 5861 §4, `HTTPCache.Options.staleIfError`).
        case serve(CacheCandidate)
        /// Return a 504, because the stored response must not be used without validation (RFC 9111 §5.2.2.2).
        case refuse(because: CacheReason)
        /// Pass the failed response or the error on to the caller.
        case rethrow
    }

    /// Returns the decision after a failure, given a stored response that may be used instead.
    static func after(
        _ failure: Failure, _ standIn: CacheCandidate?, _ incoming: CacheRequest
    ) -> AfterFailure {
        guard let standIn, failure.isServers, incoming.policy != .validate else { return .rethrow }
        let requested = incoming.control.seconds("stale-if-error")
        // A request whose directives exclude the stored response receives it only if it contains `stale-if-error`.
        if requested == nil, standIn.requestObstacle(incoming) != nil { return .rethrow }
        if standIn.freshness.forbidsStale {
            guard case .error(let error) = failure, standIn.freshness.control.contains("must-revalidate") else {
                return .rethrow
            }
            return .refuse(because: .unreachable(error.label))
        }
        let allowed =
            [
                standIn.freshness.control.seconds("stale-if-error"), requested,
                Int(clamping: incoming.rules.staleIfError.components.seconds),
            ].compactMap { $0 }.max() ?? 0
        guard allowed > 0, standIn.freshness.staleness <= Double(allowed) else { return .rethrow }
        return .serve(standIn.stale(because: "\(failure); a staleness of \(allowed) s is allowed then"))
    }

    /// A failure of the server: the status of its response, or an error.
    enum Failure: Sendable, CustomStringConvertible {
        case status(HTTPStatus)
        case error(NetworkError)

        /// Whether the server or the way to it failed, as with a 500, 502, 503 or 504 (RFC 5861 §4). False for other
        /// statuses, for decisions of the client, and for a connection that is not secure.
        var isServers: Bool {
            switch self {
            case .status(let status): [500, 502, 503, 504].contains(status.code)
            case .error(let error):
                switch error.reason {
                case .unreachable, .proxyFailed, .connectionLost, .timedOut, .badResponse: true
                case .refused(let policy): policy.isOfServer
                default: false
                }
            }
        }

        var isTimeout: Bool {
            if case .error(let error) = self, case .timedOut = error.reason { true } else { false }
        }

        var description: String {
            switch self {
            case .status(let status): "the server failed with \(status.code)"
            case .error(let error): "the server did not respond (\(error.label))"
            }
        }
    }
}
