// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import CurlewTesting
import IsolationApproachable
import IsolationPlain
import Testing

/// Conformers and closures of modules with different concurrency defaults work in one pipeline. That they compile is
/// half of the test: a closure type in a requirement would be matched exactly and break one of the two.
@Suite(.timeLimit(.minutes(1)))
struct IsolationTests {
    static let mixed: Pipeline = [
        PlainInterceptor(), ApproachableInterceptor(), PlainInterceptor(), ApproachableInterceptor(),
    ]

    @Test("Conformers of both modules pass a call on in order, over a transport of either")
    func order() async throws {
        let transports: [any Transport] = [PlainTransport(), ApproachableTransport()]
        for transport in transports {
            let exchanger = Pipeline.Runner(pipeline: Self.mixed, transport: transport)
            let response = try await exchanger.exchange(HTTPRequest(url: "https://mock.test/"), in: ExchangeContext())
            #expect(response.headers[values: "Passed"] == ["plain", "approachable", "plain", "approachable"])
            #expect(response.headers[values: "Returned"] == ["approachable", "plain", "approachable", "plain"])
        }
    }

    @Test("Closures of both modules serve as hooks and as token sources")
    func closures() async throws {
        for (closures, token) in [
            (PlainClosures.interceptors, "Bearer plain closure"),
            (ApproachableClosures.interceptors, "Bearer approachable closure"),
        ] {
            let client = APIClient.mock(pipeline: Pipeline(closures)) { $0.onAny { _ in .status(204) } }
            try await client.send(Request<Void>.get("/x"))
            #expect(client.recordedCalls.map { $0.request.headers[.authorization] } == [token])
            #expect(client.recordedCalls.first?.request.headers.contains("Passed") == true)
        }
    }

    @Test("A call from the main actor goes through all of them and returns to it")
    @MainActor
    func fromTheMainActor() async throws {
        let closures = PlainClosures.interceptors + ApproachableClosures.interceptors
        let client = APIClient.mock(pipeline: closures.reduce(Self.mixed) { $0.adding($1) }) {
            $0.onAny { _ in .json(text: "[1,2]") }
        }
        let numbers = try await client.send(Request<[Int]>.get("/numbers"))
        MainActor.assertIsolated()
        #expect(numbers == [1, 2])
    }
}
