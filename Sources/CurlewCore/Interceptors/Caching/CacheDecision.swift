// SPDX-License-Identifier: MIT

import CurlewHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a cache does about a request (RFC 9111 §4), given what is stored and the time. No I/O.
enum CacheDecision: Sendable {
    /// A stored response answers; `refresh` asks for a new one in the background.
    case serve(CacheChoice, refresh: Bool)
    /// The server is asked whether a stored response is still good, by this request.
    case revalidate(CacheChoice, HTTPRequest)
    /// The server is asked; what is stored may stand in for it if it fails.
    case fetch(standIn: CacheChoice?, because: CacheCause)
    /// The answer is a 504 made here.
    case refuse(because: CacheCause)

    /// Decides about a request.
    static func about(_ question: CacheQuestion, _ variants: [StoredResponse], at now: Date) -> CacheDecision {
        if question.policy == .reload { return .fetch(standIn: nil, because: .callReloads) }
        let chosen: CacheChoice
        switch CacheChoice.among(variants, for: question, at: now) {
        case .success(let choice): chosen = choice
        case .failure(let refusal):
            if question.takesOnlyStored { return .refuse(because: .onlyIfCached) }
            return .fetch(standIn: nil, because: refusal.cause)
        }
        if question.hasServerPreconditions {
            if question.takesOnlyStored { return .refuse(because: .onlyIfCached) }
            return .fetch(standIn: nil, because: .callHasPreconditions)
        }
        let obstacle = chosen.obstacle(for: question)
        guard let obstacle else { return .serve(chosen, refresh: false) }
        if let permission = chosen.stalePermission(for: question, obstacle) {
            let refresh = permission.refreshes && !question.takesOnlyStored
            return .serve(chosen.stale(because: permission.reason), refresh: refresh)
        }
        if question.takesOnlyStored { return .refuse(because: .onlyIfCached) }
        guard let conditional = chosen.conditional(question) else { return .fetch(standIn: chosen, because: obstacle) }
        return .revalidate(chosen.because(obstacle), conditional)
    }

    /// What to do when the server was asked and gave no answer, or only that it failed.
    enum AfterFailure: Sendable {
        /// The stored response answers in its place (RFC 5861 §4, `CacheRules.staleIfError`).
        case serve(CacheChoice)
        /// A 504: the stored response must not be used without the server (RFC 9111 §5.2.2.2).
        case refuse(because: CacheCause)
        /// The failure is the caller's.
        case rethrow
    }

    /// Decides about a failure: a status, or an error.
    static func after(
        _ failure: Failure, _ standIn: CacheChoice?, _ question: CacheQuestion
    ) -> AfterFailure {
        guard let standIn, failure.isServers, question.policy != .validate else { return .rethrow }
        let asked = question.control.seconds("stale-if-error")
        // A request that wants an answer of the server is not answered without it, unless it says when.
        if asked == nil, standIn.callsObstacle(question) != nil { return .rethrow }
        if standIn.freshness.forbidsStale {
            guard case .error(let error) = failure, standIn.freshness.control.contains("must-revalidate") else {
                return .rethrow
            }
            return .refuse(because: .unreachable(error.label))
        }
        let allowed =
            [
                standIn.freshness.control.seconds("stale-if-error"), asked,
                Int(clamping: question.rules.staleIfError.components.seconds),
            ].compactMap { $0 }.max() ?? 0
        guard allowed > 0, standIn.freshness.staleness <= Double(allowed) else { return .rethrow }
        return .serve(standIn.stale(because: "\(failure); \(allowed) s of staleness are allowed then"))
    }

    /// What a server did instead of answering.
    enum Failure: Sendable, CustomStringConvertible {
        case status(HTTPStatus)
        case error(NetworkError)

        /// True for what would be a 500, 502, 503 or 504 (RFC 5861 §4). Not for what the client decided, and not for a
        /// connection that is not secure.
        var isServers: Bool {
            switch self {
            case .status(let status): [500, 502, 503, 504].contains(status.code)
            case .error(let error):
                switch error.reason {
                case .unreachable, .proxyFailed, .connectionLost, .timedOut, .badResponse: true
                case .refused(by: .overload), .refused(by: .circuitBreaker): true
                default: false
                }
            }
        }

        var description: String {
            switch self {
            case .status(let status): "the server failed with \(status.code)"
            case .error(let error): "the server gave no answer (\(error.label))"
            }
        }
    }
}
