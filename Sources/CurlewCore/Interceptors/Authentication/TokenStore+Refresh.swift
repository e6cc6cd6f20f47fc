// SPDX-License-Identifier: MIT

import CurlewHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Provides and refreshes tokens by the decisions of `TokenState`.
extension TokenStore {
    /// Returns the tokens for a call; nil when signed out, and when they were refused and cannot be refreshed.
    ///
    /// - `version`: the version of the tokens that the server has just refused.
    /// - `deadline`: how long the call waits for a refresh, by the call's own `clock`.
    /// - `willWait`: runs before the wait; from then on the refused response is not needed.
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

    /// Records a refusal for a call that does not wait: the refresh begins for later calls.
    func refuse(_ version: UInt64, by renewal: Renewal?) {
        let step = state.step(
            refused: version, canRefresh: renewal != nil, canObtain: renewal?.canObtain ?? false, now: time.now,
            date: time.date)
        if case .refresh(let issued, let flight) = step, let renewal { start(flight, issued?.tokens, renewal) }
    }

    /// Records the server's time from the response to a call with `issued`.
    func learn(serverDate: Date) {
        state.learn(serverDate: serverDate, at: time.date)
    }

    /// The store whose refresh the current task is a part of.
    @TaskLocal private static var renewing: ObjectIdentifier?

    /// Whether the current task is a refresh of this store. Its requests must not request tokens: they would wait for
    /// themselves.
    nonisolated var isRenewing: Bool { Self.renewing == ObjectIdentifier(self) }

    private func start(_ number: UInt64, _ tokens: Tokens?, _ renewal: Renewal) {
        _ = round(of: number)
        isObtained = renewal.canObtain
        let (time, store) = (time, ObjectIdentifier(self))
        let limit = max(policy.timeout, policy.longestRefresh)
        let (isShared, end) = (persistence is any SharedTokens, Deadline(limit, after: time.now))
        // Detached, because the cancellation of a caller must not end it: the server may have exchanged the refresh
        // token already.
        Task.detached {
            let turn = await self.turn(of: number, tokens, canObtain: renewal.canObtain, limit: limit)
            switch turn {
            case .over: return
            case .failed(let error): await self.land(number, .failure(error))
            case .renewed(let tokens): await self.landElsewhere(number, tokens)
            case .renew(let tokens, let lock):
                // The wait for another process does not count toward the server's time.
                let end = isShared ? Deadline(limit, after: time.now) : end
                let result = await Self.run(renewal, tokens, for: store, until: end, on: time)
                await self.land(number, result)
                lock?.release()
            }
        }
    }

    private static func run(
        _ renewal: Renewal, _ tokens: Tokens?, for store: ObjectIdentifier, until end: Deadline, on time: any TimeSource
    ) async -> Result<Tokens, any Error> {
        let result = OneShot<Result<Tokens, any Error>>()
        let work = Task.detached {
            do {
                let tokens = try await Self.$renewing.withValue(store) { try await renewal.run(tokens) }
                result.finish(.success(.success(tokens)))
            } catch {
                result.finish(.success(.failure(error)))
            }
        }
        let outcome = try? await result.wait(until: end, on: time)
        // A refresh that ignores its cancellation is abandoned.
        if outcome == nil { work.cancel() }
        return outcome ?? .failure(DeadlinePassed())
    }

    /// Returns what the calls that need this refresh wait for, `RefreshPolicy.timeout` at most. The refresh may take
    /// longer. A later call then opens another round: a second refresh would present the same refresh token again.
    private func round(of number: UInt64) -> OneShot<Void> {
        if let round = flights[number] { return round }
        let round = OneShot<Void>()
        flights[number] = round
        let (time, end) = (time, Deadline(policy.timeout, after: time.now))
        Task.detached { [weak self] in
            do {
                try await round.wait(until: end, on: time)
            } catch is DeadlinePassed {
                await self?.close(round, of: number)
            } catch {
                // The refresh has failed, and the calls have received its error.
            }
        }
        return round
    }

    private func close(_ round: OneShot<Void>, of number: UInt64) {
        // Storing the tokens that have arrived has a separate limit.
        guard flights[number] === round, !state.hasArrived(number) else { return }
        flights[number] = nil
        var failure = NetworkError(DeadlinePassed()).asFailedRefresh
        failure.detail += "It took longer than \(policy.timeout.brief), and goes on."
        round.finish(.failure(failure))
    }

    private func land(_ number: UInt64, _ result: Result<Tokens, any Error>) async {
        let (landing, failure) = Self.landing(result)
        switch state.land(number, with: landing) {
        case .discarded: return
        case .kept: lastFailure = failure
        case .signedOut:
            (lastFailure, isFromRefresh) = (nil, true)
            publishPrincipal()
            announce(.signedOut)
            try? await save()
        case .arrived:
            isFromRefresh = true
            try? await save()
            guard state.commit(number, date: time.date) else { return }
            renewed()
        }
        flights.removeValue(forKey: number)?.finish(failure.map { .failure($0) } ?? .success(()))
    }

    private func landElsewhere(_ number: UInt64, _ tokens: Tokens) {
        guard state.landElsewhere(number, tokens, date: time.date) else { return }
        renewed()
        flights.removeValue(forKey: number)?.finish(.success(()))
    }

    private func renewed() {
        lastFailure = nil
        publishPrincipal()
        announce(.refreshed)
    }

    private func landing(
        of number: UInt64, until deadline: Deadline, on clock: any TimeSource
    ) async throws -> IssuedTokens? {
        let session = state.firstVersion
        try await round(of: number).wait(until: deadline, on: clock)
        // A sign-out or sign-in may have occurred between the end of the refresh and this line.
        guard state.firstVersion == session, let current = state.current else { throw Self.signedOut }
        return current
    }

    private static func landing(_ result: Result<Tokens, any Error>) -> (TokenState.Landing, NetworkError?) {
        switch result {
        case .success(let tokens): return (.tokens(tokens), nil)
        case .failure(let error):
            let failure = NetworkError(error)
            guard failure.endsTokens else { return (.failed, failure.asFailedRefresh) }
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

    /// Cancels all flights: waiting calls fail with `error`.
    func ground(with error: NetworkError) {
        let grounded = flights.values
        (flights, lastFailure) = ([:], nil)
        for flight in grounded { flight.finish(.failure(error)) }
    }
}
