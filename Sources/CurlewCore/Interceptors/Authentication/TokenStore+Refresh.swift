// SPDX-License-Identifier: MIT

import CurlewHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Handing out and renewing: what `TokenState` decides is done here.
extension TokenStore {
    /// The tokens for a call; nil when signed out, and when they were refused and nothing renews them.
    ///
    /// - `version`: of the tokens that the server has just refused.
    /// - `deadline`: how long the call waits for a refresh, by the call's own `clock`.
    /// - `willWait`: runs before it does; nobody needs the answer that was refused any more then.
    func issued(
        refused version: UInt64? = nil, until deadline: Deadline, on clock: any TimeSource, by renewal: Renewal?,
        willWait: @Sendable () -> Void = {}
    ) async throws -> IssuedTokens? {
        try await load(until: deadline, on: clock)
        let step = state.step(
            refused: version, canRefresh: renewal != nil, canObtain: renewal?.canObtain ?? false, now: time.now,
            date: time.date)
        switch step {
        case .use(let issued): return issued
        case .useAndRefresh(let issued, let flight):
            if let renewal { start(flight, issued.tokens, renewal) }
            return issued
        case .refresh(let issued, let flight):
            guard let renewal else { return nil }
            start(flight, issued?.tokens, renewal)
            willWait()
            return try await landing(of: flight, until: deadline, on: clock)
        case .wait(let flight):
            willWait()
            return try await landing(of: flight, until: deadline, on: clock)
        case .signedOut, .giveUp: return nil
        case .tooMany(let wait): throw tooMany(wait)
        }
    }

    private func tooMany(_ wait: Duration) -> NetworkError {
        if var failure = lastFailure {
            failure.detail += " The next refresh is possible in \(wait.brief)."
            return failure
        }
        return NetworkError(
            .notAuthenticated(.tooManyRefreshes),
            detail: "The tokens were renewed \(policy.limit) times within \(policy.window.brief), and are refused "
                + "again. The next refresh is possible in \(wait.brief).",
            hint: "The server refuses tokens that it has just issued. Look at its clock and at the token's audience.")
    }

    /// The same for a call that does not wait: the refresh begins for those that follow.
    func refuse(_ version: UInt64, by renewal: Renewal?) {
        let step = state.step(
            refused: version, canRefresh: renewal != nil, canObtain: renewal?.canObtain ?? false, now: time.now,
            date: time.date)
        if case .refresh(let issued, let flight) = step, let renewal { start(flight, issued?.tokens, renewal) }
    }

    /// The answer to a call with `issued` told the server's time.
    func learn(serverDate: Date) {
        state.learn(serverDate: serverDate, at: time.date)
    }

    /// The store whose refresh the current task is a part of.
    @TaskLocal private static var renewing: ObjectIdentifier?

    /// True in a refresh of this store. What it sends must not ask for tokens: it would wait for itself.
    nonisolated var isRenewing: Bool { Self.renewing == ObjectIdentifier(self) }

    private func start(_ number: UInt64, _ tokens: Tokens?, _ renewal: Renewal) {
        flights[number] = OneShot()
        let (time, timeout, store) = (time, policy.timeout, ObjectIdentifier(self))
        // Detached, because nobody's cancellation ends it: the server may have exchanged the refresh token already.
        Task.detached {
            let result = OneShot<Tokens>()
            let work = Task.detached {
                do {
                    let tokens = try await Self.$renewing.withValue(store) { try await renewal.run(tokens) }
                    result.finish(.success(tokens))
                } catch {
                    result.finish(.failure(error))
                }
            }
            let outcome: Result<Tokens, any Error>
            do {
                outcome = .success(try await result.wait(until: Deadline(timeout, after: time.now), on: time))
            } catch {
                // One that does not end when told to is left alone.
                work.cancel()
                outcome = .failure(error)
            }
            await self.land(number, outcome)
        }
    }

    private func land(_ number: UInt64, _ result: Result<Tokens, any Error>) async {
        let (landing, failure) = Self.landing(result)
        switch state.land(number, with: landing) {
        case .discarded: return
        case .kept: lastFailure = failure
        case .signedOut:
            lastFailure = nil
            publishPrincipal()
            announce(.signedOut)
            try? await save()
        case .arrived:
            try? await save()
            guard state.commit(number, date: time.date) else { return }
            lastFailure = nil
            publishPrincipal()
            announce(.refreshed)
        }
        flights.removeValue(forKey: number)?.finish(failure.map { .failure($0) } ?? .success(()))
    }

    private func landing(
        of number: UInt64, until deadline: Deadline, on clock: any TimeSource
    ) async throws -> IssuedTokens? {
        guard let flight = flights[number] else { return state.current }
        let session = state.firstVersion
        try await flight.wait(until: deadline, on: clock)
        // Between the landing and this line somebody may have signed out, or in.
        guard state.firstVersion == session, let current = state.current else { throw Self.signedOut }
        return current
    }

    private static func landing(_ result: Result<Tokens, any Error>) -> (TokenState.Landing, NetworkError?) {
        switch result {
        case .success(let tokens): return (.tokens(tokens), nil)
        case .failure(let error):
            var failure = NetworkError(error)
            let isFinal =
                switch failure.reason {
                case .status(let status): status.code == 400 || status.code == 401
                case .notAuthenticated: true
                default: false
                }
            guard isFinal else {
                if failure.isCancelled { failure.reason = .connectionLost(.requestMayHaveArrived) }
                failure.detail = "The tokens could not be renewed. " + failure.detail
                return (.failed, failure)
            }
            return (
                .refused,
                NetworkError(
                    .notAuthenticated(.refreshRefused), detail: "The server does not renew the tokens any more.",
                    hint: "Sign in again.", underlying: failure)
            )
        }
    }

    static let signedOut = NetworkError(
        .notAuthenticated(.signedOut), detail: "The account was signed out while the call waited.",
        hint: "Sign in again.")
    static let replaced = NetworkError(
        .notAuthenticated(.signedOut), detail: "Somebody signed in anew while the call waited for tokens.",
        hint: "Send it again if it is meant for the new session.")

    /// Takes all flights off: whoever waits fails.
    func ground(with error: NetworkError) {
        let grounded = flights.values
        (flights, lastFailure) = ([:], nil)
        for flight in grounded { flight.finish(.failure(error)) }
    }
}
