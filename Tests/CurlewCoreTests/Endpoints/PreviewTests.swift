// SPDX-License-Identifier: MIT

import CurlewAuthentication
import CurlewObservability
import CurlewRecording
import Testing

@Suite(.timeLimit(.minutes(1)))
struct PreviewTests {
    private let events = Locked<[String]>([])

    private func client(_ pipeline: Pipeline, observers: [any RequestObserver] = []) -> APIClient {
        APIClient(
            baseURL: "https://api.test/v1", pipeline: pipeline,
            transport: ClosureTransport { _, _ in
                Issue.record("a preview reached the transport")
                return HTTPResponse()
            }, configuration: APIClient.Configuration(observers: observers))
    }

    @Test func aPreviewShowsTheInterceptedRequestAndSendsNothing() async throws {
        let client = client([.onRequest { request, _ in request.headers["X-Tenant"] = "acme" }, .bearer { "t0ken" }])
        let request = try await client.preview(.person(id: 1))
        #expect(request.urlString == "https://api.test/v1/people/1")
        #expect(request.headers["X-Tenant"] == "acme")
        #expect(request.headers[.authorization] == "Bearer t0ken")
        #expect(!request.curlCommand().contains("t0ken"))
    }

    @Test func aPreviewOmitsInterceptorsThatNeedAResponse() async throws {
        let log = EventLog { _, _ in "event" }
        let client = client(
            [
                .logging(.line, sink: { _ in events.withLock { $0.append("log") } }),
                .onResponse { _, _ in events.withLock { $0.append("response") } },
                .onError { _, _ in events.withLock { $0.append("error") } },
            ], observers: [log])
        _ = try await client.preview(GetPerson(id: 1))
        _ = try await client.preview(PeopleAPI.list)
        #expect(events.withLock { $0 } == [] && log.entries == [])
    }

    @Test func aPreviewThrowsTheErrorOfAnInterceptor() async throws {
        let client = client([.onRequest { _, _ in throw NetworkError(.storage, detail: "no disk") }])
        #expect(await failureReason { try await client.preview(.person(id: 1)) } == .storage)
    }

    @Test func aPreviewReportsAnInterceptorThatRespondsItself() async throws {
        let client = client([ShortCircuit()])
        #expect(await failureReason { try await client.preview(.person(id: 1)) } == .configuration)
    }

    private struct ShortCircuit: Interceptor {
        func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse { HTTPResponse() }
    }
}
