// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting
import Testing

/// Runs the snippets of the documentation; compiled twice like them.
@Suite(.timeLimit(.minutes(1)))
struct SnippetTests {
    let ann = User(id: 1, name: "Ann")

    @Test func inlineRequests() async throws {
        let client = APIClient.mock {
            $0.on(.get, "/users/1") { _ in User(id: 1, name: "Ann") }
            $0.on(.get, "/users") { _ in [User(id: 1, name: "Ann")] }
            $0.on(.delete, "/users/1", .status(204))
        }
        let user = try await client.send(.user(id: 1))
        #expect(user == ann)
        #expect(try await client.send(.users) == [ann])
        try await client.send(.remove(id: 1))
        try await client.send(.delete("/users/1"))
        #expect(client.recordedCalls.map(\.routeName) == ["user(id:)", "users", "remove(id:)", "inlineRequests()"])
    }

    @Test func structEndpoint() async throws {
        let client = APIClient.mock { $0.on(GetUser.self) { User(id: $0.id, name: "Ann") } }
        let user = try await client.send(GetUser(id: 1))
        #expect(user == ann)
    }

    @Test func enumOfRoutes() async throws {
        let client = APIClient.mock {
            $0.on(UsersAPI.self) { route in
                switch route {
                case .list: #"[{"id":1,"name":"Ann"}]"#
                case .one, .update: #"{"id":1,"name":"Ann"}"#
                }
            }
        }
        let users: [User] = try await client.send(UsersAPI.list(page: 2))
        let user = try await client.send(UsersAPI.one(1), as: User.self)
        let updated: User = try await client.send(UsersAPI.update(user))
        #expect(users == [ann] && user == ann && updated == ann)
        #expect(client.recordedCalls.map(\.request.target) == ["/users?page=2", "/users/1", "/users/1"])
    }

    @Test func resourceWithAWrapper() async throws {
        let client = APIClient.mock {
            $0.on(.get, "/questions") { _ in #"{"items":[{"title":"Why?","score":3}],"has_more":false}"# }
        }
        let expected = [Question(title: "Why?", score: 3)]
        #expect(try await client.send(.questions(tagged: "swift")) == expected)
        #expect(try await client.send(Questions(tag: "swift")) == expected)
    }

    @Test func absoluteURL() async throws {
        let client = APIClient.mock(pipeline: [.bearer { "token" }]) { mock in
            mock.onAny { _ in HTTPResponse(body: ResponseBody(Data("png".utf8))) }
        }
        let data = try await client.send(.avatar(at: "https://cdn.example/1.png?s=64"))
        #expect(data == Data("png".utf8))
        let call = try #require(client.recordedCalls.first)
        #expect(call.request.urlString == "https://cdn.example/1.png?s=64")
        #expect(call.request.headers[.authorization] == nil)
    }

    @Test func bodies() async throws {
        let client = APIClient.mock { mock in
            mock.on(.post, "/users") { _ in User(id: 1, name: "Ann") }
            mock.on(.patch, "/users/1") { _ in User(id: 1, name: "Ann") }
        }
        #expect(try await client.send(.create(NewUser(name: "Ann"))) == ann)
        #expect(try await client.send(.rename(id: 1, to: "Ann")) == ann)
        let sent = try client.recordedCalls.map { try JSONDecoder().decode(JSONValue.self, from: $0.body) }
        #expect(sent == [["name": "Ann"], ["name": "Ann", "tags": ["renamed", 1]]])
    }

    @Test func catching() async {
        let missing = APIClient.mock { $0.fail(with: NetworkError(statusCode: 404)) }
        #expect(await Catching.inAFunction(missing) == "nobody")
        #expect(await Catching.inATask(missing).value == "This was not found.")
        #expect(await Catching.ofSeveral(missing) == "This was not found.")
        #expect(await Catching.byReason(missing) == "nobody")
        let cancelled = APIClient.mock { $0.fail(with: NetworkError(.cancelled)) }
        #expect(await Catching.inAFunction(cancelled) == "")
    }

    @Test func headersAndABearerClosure() async throws {
        let client = APIClient.mock { $0.on(GetUser.self) { User(id: $0.id, name: "Ann") } }
            .with(headers: ["Accept-Language": "en"])
            .adding(.bearer { "token" })
        _ = try await client.send(GetUser(id: 1))
        let headers = try #require(client.recordedCalls.first).request.headers
        #expect(headers[.authorization] == "Bearer token")
        #expect(headers[.acceptLanguage] == "en")
    }

    @MainActor @Test func viewModel() async {
        let model = UserModel(
            client: .mock { mock in
                mock.on(.get, "/users/1") { _ in User(id: 1, name: "Ann") }
                mock.on(.get, "/users/2", .status(503))
            })
        await model.load(id: 1)
        #expect(model.user?.name == "Ann")
        await model.load(id: 2)
        #expect(model.message == "The service is not available right now.")
    }

    @Test func interceptorAndHook() async throws {
        let client = APIClient.mock { $0.on(GetUser.self) { User(id: $0.id, name: "Ann") } }
            .adding(Tenant(name: "acme"))
            .adding(.onRequest { request, _ in request.headers["X-Trace"] = "1" })
        _ = try await client.send(GetUser(id: 1))
        let headers = try #require(client.recordedCalls.first).request.headers
        #expect(headers["X-Tenant"] == "acme")
        #expect(headers["X-Trace"] == "1")
    }
}
