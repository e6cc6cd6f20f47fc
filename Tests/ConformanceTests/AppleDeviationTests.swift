// SPDX-License-Identifier: MIT

#if os(Linux)
import ConformanceCases
import CurlewCookies
import CurlewCurl
import TestServers
import Testing

@testable import CurlewURLSession

/// What the transport of Apple's systems refuses by itself can be known here: the rules are values.
@Suite(.timeLimit(.minutes(2)))
struct AppleDeviationTests {
    @Test("A case fails on Apple's systems for certain if the transport refuses what it asks for")
    func refused() async throws {
        let environment = try await ConformanceServers.shared().environment
        var refused: Set<String> = []
        for group in [ConformanceCase.Group.requests, .http2, .security, .addresses] {
            for one in ConformanceSuite.cases(of: group) {
                let log = Locked<[String]>([])
                let engine = ConformanceEngine("as Apple's") { configuration in
                    log.withLock { $0 += Unsupported.problems(configuration, on: .apple) }
                    return Noting(inner: CurlTransport(configuration: configuration), log: log)
                } shutDown: { transport, mode in
                    await transport.inner.shutdown(mode)
                }
                try? await one.run(on: engine, in: environment)
                if !log.withLock({ $0.isEmpty }) { refused.insert(one.name) }
            }
        }
        let byDictionary: Set = [
            "fields keep their order, spelling and repetitions",
            "fields keep their order, spelling and repetitions, and Set-Cookie is never joined",
        ]
        // URLSession reports no trailers; those of requests the transport refuses before it asks what this test sees.
        let byTrailers: Set = [
            "trailers of a request follow its chunks, announced in its head",
            "the trailers of a body are there when it has been read",
            "the trailers of a long body are there when it has been read",
            "the trailers of a body are there when it has been read, over HTTP/2",
        ]
        let byClock: Set = ["a stalled handshake runs into the limit for connecting"]
        // URLSession compresses no messages, and reports no body of a refusal.
        let bySockets: Set = [
            "compressed messages return unchanged", "a refusal is an error, with its status and its body",
        ]
        // It passes where such a name is refused.
        refused.remove("names of this machine never leave it: they are reached without the DNS, or refused")
        let listed = ConformanceSuite.deviations.filter { $0.engine == "URLSession on Apple" && $0.kind == .fails }
        let others = byDictionary.union(byTrailers).union(byClock).union(bySockets)
        #expect(Set(listed.map(\.caseName)) == refused.union(others))
    }

    /// Notes what would be refused, and lets it pass.
    private struct Noting: Transport {
        let inner: CurlTransport
        let log: Locked<[String]>

        func send(_ request: HTTPRequest, in context: ExchangeContext) async throws -> HTTPResponse {
            if let problem = RequestGuard.problem(request, on: .apple) { log.withLock { $0.append(problem.text) } }
            return try await inner.send(request, in: context)
        }
    }
}
#endif
