// SPDX-License-Identifier: MIT

import Testing

@Suite(.timeLimit(.minutes(1)))
struct CompletionTests {
    /// A transport that waits until its task is cancelled.
    static let endless = ClosureTransport { _, _ in
        try await waitForCancellation()
        return HTTPResponse()
    }

    @Test func theCompletionRunsOnTheMainActorWithTheValue() async throws {
        let client = APIClient.answering()
        let person = await withCheckedContinuation { continuation in
            client.send(.person(id: 1)) { result in
                MainActor.assertIsolated()
                continuation.resume(returning: result)
            }
        }
        #expect(try person.get() == .ann)
        let endpoint = await withCheckedContinuation { continuation in
            client.send(GetPerson(id: 1)) { continuation.resume(returning: $0) }
        }
        #expect(try endpoint.get() == .ann)
        let route = await withCheckedContinuation { continuation in
            client.send(PeopleAPI.one(1).decoding(Person.self)) { continuation.resume(returning: $0) }
        }
        #expect(try route.get() == .ann)
    }

    @Test func failuresArriveAsNetworkErrors() async throws {
        let client = APIClient.answering(.notFound)
        let result = await withCheckedContinuation { continuation in
            client.send(.person(id: 1)) { continuation.resume(returning: $0) }
        }
        #expect(throws: NetworkError.self) { try result.get() }
    }

    @Test func theCompletionRunsWhereTheCallerSays() async throws {
        let handed = Locked(0)
        let executor = APIClient.CompletionExecutor { work in
            handed.withLock { $0 += 1 }
            work()
        }
        let client = APIClient.testing(RecordingTransport())
        let result = await withCheckedContinuation { continuation in
            client.send(.person(id: 1), deliverOn: executor) { continuation.resume(returning: $0) }
        }
        #expect(try result.get() == .ann)
        #expect(handed.withLock { $0 } == 1)
        let anywhere = await withCheckedContinuation { continuation in
            client.send(GetPerson(id: 1), deliverOn: .anywhere) { continuation.resume(returning: $0) }
        }
        #expect(try anywhere.get() == .ann)
        #expect(handed.withLock { $0 } == 1)
    }

    @Test func cancellingReportsOnceThatItWasCancelled() async throws {
        let client = APIClient.testing(Self.endless)
        let calls = Locked(0)
        let handle = Locked<APIClient.RequestHandle?>(nil)
        let result = await withCheckedContinuation { continuation in
            let made = client.send(.person(id: 1), deliverOn: .anywhere) { result in
                calls.withLock { $0 += 1 }
                continuation.resume(returning: result)
            }
            handle.withLock { $0 = made }
            made.cancel()
            made.cancel()
        }
        #expect(result.isCancelled)
        handle.withLock { $0 }?.cancel()
        #expect(calls.withLock { $0 } == 1)
    }

    @MainActor @Test func afterCancelOnTheMainActorNoValueIsReported() async throws {
        let client = APIClient.answering()
        for _ in 0..<50 {
            let result = await withCheckedContinuation { continuation in
                let handle = client.send(.person(id: 1)) { continuation.resume(returning: $0) }
                handle.cancel()
                #expect(handle.isCancelled)
            }
            #expect(result.isCancelled)
        }
    }

    @Test func sendUnlessCancelledIsNilOnlyForCancellation() async throws {
        let client = APIClient.testing(Self.endless)
        let task = Task { try await client.sendUnlessCancelled(.person(id: 1)) }
        task.cancel()
        #expect(try await task.value == nil)
        #expect(try await APIClient.answering().sendUnlessCancelled(GetPerson(id: 1)) == .ann)
        #expect(try await APIClient.answering().sendUnlessCancelled(PeopleAPI.one(1).decoding(Person.self)) == .ann)
        let missing = APIClient.answering(.notFound)
        let error = await failure { () async throws(NetworkError) in
            _ = try await missing.sendUnlessCancelled(.person(id: 1))
        }
        #expect(error?.isNotFound == true)
    }

    @Test func aCancelledTaskSendsNothing() async throws {
        let transport = RecordingTransport()
        let client = APIClient.testing(transport)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await client.failure(.person(id: 1))
        }
        #expect(await task.value?.isCancelled == true)
        #expect(transport.requests.isEmpty)
    }
}

extension Result where Failure == NetworkError {
    fileprivate var isCancelled: Bool {
        if case .failure(let error) = self { error.isCancelled } else { false }
    }
}
