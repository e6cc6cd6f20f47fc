// SPDX-License-Identifier: MIT
// Type-checked on Linux against stubs of the SDK (Scripts/apple), where there is no Combine to run it with.

#if canImport(Combine)
import Combine
import CurlewUI
import Testing

@Suite(.timeLimit(.minutes(1)))
@MainActor
struct PublisherTests {
    struct User: Codable, Sendable {
        let firstName: String
    }

    struct GetUser: Endpoint {
        typealias Response = User
        var path: RequestPath { "/users/1" }
    }

    enum UsersAPI: Route {
        case user
        case touch

        var path: RequestPath { "/users/1" }
    }

    @MainActor
    final class Screen {
        var shown: [String] = []
        let isDone = SharedResult<Void>()

        func show(_ text: String) { shown.append(text) }
        func show(_ user: User) { shown.append(user.firstName) }
    }

    private let client = APIClient.mock { $0.on(.get, "/users/1", .json(text: #"{"firstName": "Emily"}"#)) }

    /// Collects what a publisher brings, on the main queue.
    private func outcome<Value>(
        of publisher: AnyPublisher<Value, NetworkError>, _ text: @escaping (Value) -> String
    ) async throws -> [String] {
        let screen = Screen()
        let subscription = publisher.sink { completion in
            MainActor.assumeIsolated {
                if case .failure(let error) = completion { screen.show(error.message) }
                screen.isDone.finish(.success(()))
            }
        } receiveValue: { value in
            let shown = text(value)
            MainActor.assumeIsolated { screen.show(shown) }
        }
        try await screen.isDone.wait()
        subscription.cancel()
        return screen.shown
    }

    @Test("Endpoints, inline requests and routes deliver one value or error to each subscriber")
    func values() async throws {
        let endpoint = client.publisher(for: GetUser())
        #expect(try await outcome(of: endpoint) { $0.firstName } == ["Emily"])
        #expect(try await outcome(of: endpoint) { $0.firstName } == ["Emily"])
        #expect(client.recordedCalls.count == 2)
        let inline = client.publisher(for: Request<User>.get("/users/1"))
        #expect(try await outcome(of: inline) { $0.firstName } == ["Emily"])
        let route = client.publisher(for: UsersAPI.user.decoding(User.self))
        #expect(try await outcome(of: route) { $0.firstName } == ["Emily"])
        let nothing: AnyPublisher<Void, NetworkError> = client.publisher(for: UsersAPI.touch.ignoringBody())
        #expect(try await outcome(of: nothing) { "done" } == ["done"])
        let missing = client.publisher(for: Request<User>.get("/users/2"))
        #expect(try await outcome(of: missing) { $0.firstName }.count == 1)
    }

    /// The lines of the page UserInterfaces.
    @Test("The example of the page works")
    func page() async throws {
        let screen = Screen()
        let subscription = client.publisher(for: GetUser()).sink { completion in
            if case .failure(let error) = completion { screen.show(error.message) }
        } receiveValue: { user in
            screen.show(user)
        }
        subscription.cancel()
        #expect(screen.shown.isEmpty)
    }
}
#endif
