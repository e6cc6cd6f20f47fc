// SPDX-License-Identifier: MIT

import Curlew
import CurlewSampleAPI
import CurlewTesting
import Dispatch
import Testing

@testable import LegacyBridge

/// A client whose server answers after ten seconds of a clock that stands still.
private func slowClient(_ clock: ManualClock) -> APIClient {
    .mock(configuration: APIClient.Configuration(time: clock)) {
        $0.on(.get, "/users/:id", delay: .seconds(10), .json(text: #"{"id": 1, "firstName": "A", "lastName": "B"}"#))
    }
}

@Suite("Completions", .timeLimit(.minutes(1)))
@MainActor
struct CompletionTests {
    @Test("a call that is cancelled completes exactly once, and the response that comes later changes nothing")
    func cancelled() async throws {
        let clock = ManualClock()
        let service = CurlewNetworkService(client: slowClient(clock))
        var results: [Result<User, ServiceError>] = []
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            let task = service.perform(GetUser(id: 1)) { (result: Result<User, ServiceError>) in
                results.append(result)
                done.resume()
            }
            Task {
                try? await clock.waitForSleepers(1)
                task.cancel()
                task.cancel()
            }
        }
        clock.advance(by: .seconds(10))
        // Another call goes the whole way in the meantime: a second completion would come before its own.
        let other = Task { await service.result(of: GetUser(id: 2), as: User.self) }
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(10))
        #expect(try await other.value.get().firstName == "A")
        #expect(results == [.failure(.cancelled)])
    }

    @Test("a call that is cancelled before it begins completes once too")
    func cancelledAtOnce() async {
        let mock = MockTransport { $0.on(.get, "/users/:id", .json(text: "{}")) }
        let service = CurlewNetworkService(client: .mock(mock))
        // Resuming twice ends the process.
        let result = await withCheckedContinuation { (done: CheckedContinuation<Result<User, ServiceError>, Never>) in
            service.perform(GetUser(id: 1)) { done.resume(returning: $0) }.cancel()
        }
        #expect(result == .failure(.cancelled))
    }

    @Test("completions come on the main queue, for the façade and for typed calls")
    func mainQueue() async throws {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        let api = try SampleAPI()
        defer { api.stop() }
        let client = APIClient(baseURL: "\(api.url)")
        let places = await withCheckedContinuation { (done: CheckedContinuation<[Bool?], Never>) in
            CurlewNetworkService(client: client).perform(GetUser(id: 1)) { (_: Result<User, ServiceError>) in
                MainActor.assertIsolated()
                let first = DispatchQueue.getSpecific(key: key)
                client.send(.user(1)) { _ in
                    MainActor.assertIsolated()
                    done.resume(returning: [first, DispatchQueue.getSpecific(key: key)])
                }
            }
        }
        #expect(places == [true, true])
    }

    @Test("a custom executor receives each completion once, also that of a cancelled call")
    func executor() async throws {
        let queue = DispatchQueue(label: "archive")
        let key = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: key, value: true)
        let clock = ManualClock()
        let archive = Archive(client: slowClient(clock), executor: .queue(queue))
        for isCancelled in [false, true] {
            typealias Outcome = (place: Bool?, name: Result<String, NetworkError>)
            let outcome = await withCheckedContinuation { (done: CheckedContinuation<Outcome, Never>) in
                let handle = archive.fetchNames(of: 1) {
                    done.resume(returning: (DispatchQueue.getSpecific(key: key), $0))
                }
                Task {
                    try? await clock.waitForSleepers(1)
                    if isCancelled { handle.cancel() } else { clock.advance(by: .seconds(10)) }
                }
            }
            #expect(outcome.place == true)
            if isCancelled {
                #expect(throws: NetworkError.self) { try outcome.name.get() }
            } else {
                #expect(try outcome.name.get() == "A B")
            }
        }
    }

    @Test("nothing runs before the executor says so")
    func heldBack() async throws {
        let (works, writer) = AsyncStream.makeStream(of: (@Sendable () -> Void).self)
        let (names, nameWriter) = AsyncStream.makeStream(of: String.self)
        let client = APIClient.mock {
            $0.on(.get, "/users/:id", .json(text: #"{"id": 1, "firstName": "A", "lastName": "B"}"#))
        }
        let archive = Archive(client: client, executor: APIClient.CompletionExecutor { writer.yield($0) })
        archive.fetchNames(of: 1) { result in
            nameWriter.yield((try? result.get()) ?? "nobody")
            nameWriter.finish()
        }
        for await work in works {
            nameWriter.yield("not yet")
            work()
            break
        }
        var seen: [String] = []
        for await name in names { seen.append(name) }
        #expect(seen == ["not yet", "A B"])
    }
}

@Suite("Actions", .timeLimit(.minutes(1)))
struct ActionTests {
    private func entries(_ mock: MockTransport, _ work: (APIClient, Session) async -> Void) async -> [String] {
        let journal = Journal()
        let session = Session()
        await work(APIClient.mock(mock).withActions(session, journal), session)
        return await journal.entries
    }

    @Test("actions run in their order: before, token, after; and before, after an error")
    func order() async {
        let mock = MockTransport {
            $0.on(.get, "/auth/me", .json(text: #"{"id": 1, "firstName": "A", "lastName": "B"}"#))
            $0.fail(.get, "/users/:id", with: NetworkError(.unreachable))
        }
        let entries = await entries(mock) { client, session in
            await session.signIn("t-1")
            _ = try? await client.send(.currentUser)
            _ = try? await client.send(.user(2))
        }
        #expect(
            entries == ["begin currentUser", "token", "status 200", "begin user(_:)", "failed unreachable"])
    }

    @Test("the token is sent with calls that ask for it, to their own origin, and with no other")
    func token() async {
        let mock = MockTransport { $0.onAny { _ in .json(text: "{}") } }
        _ = await entries(mock) { client, session in
            _ = try? await client.send(.currentUser)
            await session.signIn("t-1")
            _ = try? await client.send(.currentUser)
            _ = try? await client.send(.user(2))
            var elsewhere = Request<User>.get(url: "https://elsewhere.example/me")
            elsewhere.options[NeedsToken.self] = true
            _ = try? await client.send(elsewhere)
        }
        #expect(mock.requests.map { $0.request.headers[.authorization] } == [nil, "Bearer t-1", nil, nil])
    }
}
