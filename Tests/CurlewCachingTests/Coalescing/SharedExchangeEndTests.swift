// SPDX-License-Identifier: MIT

import CurlewCaching
import Testing

/// Nothing is left of a shared exchange when it is over and its responses are released.
@Suite(.timeLimit(.minutes(2)))
struct SharedExchangeEndTests {
    /// A body or a value that reports its release.
    private final class Held: ResponseBodySource {
        private let gone: Tally

        init(_ gone: Tally) { self.gone = gone }

        func next() async throws -> Data? { nil }

        func cancel() {}

        deinit { gone.add() }
    }

    /// The work may be over while the call that begins it still does so. That is the more likely, the less the work has
    /// to do and the more other threads are idle: so the responses come at once, and the calls are on the main actor.
    /// Each call has a path of its own: a later exchange for the same thing would replace what is left.
    @MainActor
    @Test("An exchange that is over at once keeps no response, whole or not", arguments: [false, true])
    func atOnce(isWhole: Bool) async throws {
        let (gone, rounds) = (Tally(), 2000)
        let interceptor = BuiltInInterceptor.coalescing()
        let next = Next { _, _ in
            let held = Held(gone)
            return HTTPResponse(
                body: isWhole ? ResponseBody(value: held) : ResponseBody(held, limit: 1 << 20, length: nil))
        }
        for round in 0..<rounds {
            _ = try await interceptor.intercept(HTTPRequest(url: "https://a.test/\(round)"), next: next)
        }
        try await gone.reaches(rounds)
        withExtendedLifetime(interceptor) {}
    }
}
