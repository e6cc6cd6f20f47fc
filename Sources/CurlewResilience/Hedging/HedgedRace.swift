// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// Sends a request, and sends it again if the first response is late. The first response that is not a failure wins.
struct HedgedRace: Sendable {
    private enum Event: Sendable {
        case late
        case ended(Int, Result<HTTPResponse, any Error>)
        /// A failure whose body has been read, as far as `ResponseBody.settled(on:)` reads it: at most 1 MiB and for
        /// one second.
        case settled(Int, HTTPResponse)
        /// The wait before the second request was cancelled, so nothing happens.
        case nothing
    }

    let delay: Duration
    let time: any TimeSource
    /// Draws on the budget for a second request. Returns false if the budget has too few tokens.
    let mayHedge: @Sendable () -> Bool
    let send: @Sendable () async throws -> HTTPResponse

    /// Returns the outcome, a note for the history, and whether the request was sent twice.
    func run() async -> (Result<HTTPResponse, any Error>, note: String?, wasHedged: Bool) {
        await withTaskGroup(of: Event.self) { group in
            var finish = Finish()
            group.addTask { await ended(1) }
            group.addTask {
                do {
                    try await time.sleep(for: delay)
                    return .late
                } catch {
                    return .nothing
                }
            }
            for await event in group {
                switch event {
                case .nothing:
                    continue
                case .late:
                    guard finish.wantsHedgeWhenLate, mayHedge() else { continue }
                    finish.began("the first took longer than \(delay.brief)")
                    group.addTask { await ended(2) }
                case .settled(let number, let response):
                    if finish.take(.success(response), of: number) { group.cancelAll() }
                case .ended(let number, let result):
                    // The outcome of the other request decides. That request may be waiting for the connection, or for
                    // the permit of a limit, that the body of this failure holds.
                    if finish.mustWait(result), case .success(let response) = result, !response.body.isAtHand {
                        group.addTask { await settled(number, response) }
                    } else if finish.take(result, of: number) {
                        group.cancelAll()
                    }
                }
            }
            let none = Result<HTTPResponse, any Error>.failure(CancellationError())
            return (finish.result ?? none, finish.note, finish.attempts == 2)
        }
    }

    private func settled(_ number: Int, _ response: HTTPResponse) async -> Event {
        var response = response
        do {
            response.body = try await response.body.settled(on: time)
            return .settled(number, response)
        } catch {
            return .ended(number, .failure(error))
        }
    }

    private func ended(_ number: Int) async -> Event {
        do {
            return .ended(number, .success(try await send()))
        } catch {
            return .ended(number, .failure(error))
        }
    }
}

/// Collects the outcomes of both requests and decides which one counts.
private struct Finish {
    private(set) var attempts = 1
    private(set) var result: Result<HTTPResponse, any Error>?
    private var reason = ""
    private var winner = 1
    private var ended = 0
    private var fallback: Result<HTTPResponse, any Error>?

    /// The note for the history; nil when the request was sent once.
    var note: String? {
        guard attempts == 2 else { return nil }
        return "sent twice because \(reason); the \(winner == 1 ? "first" : "second") counts"
    }

    /// Whether the result is a failure that does not decide the race yet, because the other request is still in flight.
    func mustWait(_ result: Result<HTTPResponse, any Error>) -> Bool {
        attempts == 2 && ended == 0 && self.result == nil && !isDecisive(result)
    }

    var wantsHedgeWhenLate: Bool { attempts == 1 && ended == 0 }

    mutating func began(_ reason: String) {
        attempts = 2
        self.reason = reason
    }

    /// Records the outcome of one request. Returns true if the race is decided.
    mutating func take(_ result: Result<HTTPResponse, any Error>, of number: Int) -> Bool {
        ended += 1
        guard self.result == nil else {
            Self.drop(result)
            return false
        }
        guard isDecisive(result) || ended == attempts else {
            fallback = result
            return false
        }
        if let fallback, !isDecisive(result), case .failure(let error) = result,
            case .refused = NetworkError(error).reason
        {
            self.result = fallback
            winner = 3 - number
        } else {
            if let fallback { Self.drop(fallback) }
            self.result = result
            winner = number
        }
        return true
    }

    private func isDecisive(_ result: Result<HTTPResponse, any Error>) -> Bool {
        guard case .success(let response) = result else { return false }
        return ![408, 429, 500, 502, 503, 504].contains(response.status.code)
    }

    private static func drop(_ result: Result<HTTPResponse, any Error>) {
        if case .success(let response) = result { response.body.cancel() }
    }
}
