// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewAuthentication
@testable import CurlewCore
@testable import CurlewObservability

@Suite(.timeLimit(.minutes(1)))
struct HookTests {
    struct Own: Error {}

    @Test("A request hook changes what is sent, and may wait and throw")
    func request() async throws {
        let client = APIClient.mock(
            pipeline: [
                .onRequest { request, context in
                    await Task.yield()
                    request.headers["X-Route"] = context.routeName
                    request.appendQuery("lang", "en")
                }
            ]
        ) { $0.onAny { _ in .json(Person.ann) } }
        try await client.send(GetPerson(id: 1))
        let sent = try #require(client.recordedCalls.first)
        #expect(sent.request.headers["X-Route"] == "GetPerson")
        #expect(sent.query["lang"] == "en")

        let failing = client.adding(.onRequest { _, _ in throw Own() })
        let error = await #expect(throws: NetworkError.self) { try await failing.send(GetPerson(id: 1)) }
        #expect(error?.underlying is Own)
        #expect(client.recordedCalls.count == 1)
    }

    @Test("A response hook sees every status, leaves the body to the caller, and may end the call")
    func response() async throws {
        let seen = Locked<[Int]>([])
        let client = APIClient.mock(
            pipeline: [.onResponse { response, _ in seen.withLock { $0.append(response.status.code) } }]) {
                $0.on(GetPerson.self) { $0.id == 1 ? HTTPResponse.json(Person.ann) : .status(410) }
            }
        #expect(try await client.send(GetPerson(id: 1)) == .ann)
        await #expect(throws: NetworkError.self) { try await client.send(GetPerson(id: 2)) }
        #expect(seen.withLock { $0 } == [200, 410])

        let failing = client.adding(.onResponse { _, _ in throw NetworkError(.badResponse, detail: "not signed") })
        #expect(await failureReason { try await failing.send(GetPerson(id: 1)) } == .badResponse)
    }

    @Test("An error hook receives failures with their request, and they reach the caller")
    func error() async throws {
        let heard = Locked<[NetworkError]>([])
        let client = APIClient.mock(pipeline: [.onError { error, _ in heard.withLock { $0.append(error) } }]) {
            $0.on(GetPerson.self, .status(500))
            $0.on(PeopleAPI.self) { _ -> HTTPResponse in throw Own() }
        }
        let error = await #expect(throws: NetworkError.self) {
            let _: [Person] = try await client.send(PeopleAPI.list.decoding())
        }
        #expect(error?.underlying is Own)
        #expect(heard.withLock { $0.map(\.reason) } == [.interceptor])
        #expect(heard.withLock { $0.first?.request?.method } == .get)
        await #expect(throws: NetworkError.self) { try await client.send(GetPerson(id: 1)) }
        #expect(heard.withLock { $0.count } == 1, "a status is an answer")
    }
}
