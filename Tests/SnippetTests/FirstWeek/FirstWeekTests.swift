// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting
import Testing

/// Runs the snippets of the first week; compiled twice like them: in a plain module, and through a symbolic link in one
/// whose default isolation is the main actor.
@Suite(.timeLimit(.minutes(1)))
struct FirstWeekTests {
    nonisolated static let emily = #"{"id": 1, "firstName": "Emily"}"#
    nonisolated static let metropolis = #"{"id": "metropolis", "title": "Metropolis", "year": 1927}"#

    private var client: APIClient {
        .mock { mock in
            mock.on(.get, "/users/1") { _ in Self.emily }
            mock.on(.post, "/users") { _ in Self.emily }
            mock.on(.get, "/orders") { _ in #"[{"number": 7}]"# }
        }
    }

    private func failing(_ error: NetworkError) -> APIClient {
        .mock { $0.fail(with: error) }
    }

    @Test func gettingStarted() async throws {
        var printed: [String] = []
        await GettingStarted.fails(client) { printed.append("\($0)") }
        #expect(printed.first == "The request was not sent.")
        let answer = #"{"message":"User with id '999999' not found"}"#
        let missing = APIClient.mock { $0.on(.get, "/users/:id", .json(text: answer, status: .notFound)) }
        printed = []
        await GettingStarted.fails(missing) { printed.append("\($0)") }
        let text = #"""
            NetworkError: status 404
              request   GET https://mock.test/users/999999  (user(id:))
              response  404 Not Found, application/json
              body      {"message":"User with id '999999' not found"}
            """#
        #expect(printed == ["This was not found.", text])
    }

    @Test func readme() async throws {
        #expect(try await Readme.test() == "Emily")
    }

    @MainActor
    @Test(arguments: [(404, "nobody"), (503, "The service is not available right now.")])
    func catching(_ status: Int, _ shown: String) async {
        let client = failing(NetworkError(statusCode: status))
        let message = NetworkError(statusCode: status).message
        let screen = Screen()
        await screen.readme(client)
        await screen.inAFunction(client)
        await screen.inATask(client).value
        await screen.ofSeveral(client)
        await screen.byReason(client)
        await screen.inAView(client)
        #expect(screen.shown == [shown, shown, message, message, shown, message])
    }

    @MainActor @Test func noErrorToCatch() async {
        let screen = Screen()
        await screen.readme(client)
        await screen.inAFunction(client)
        await screen.inATask(client).value
        await screen.ofSeveral(client)
        await screen.byReason(client)
        await screen.inAView(client)
        #expect(screen.shown == ["Emily", "Emily", "Emily", "Emily 1", "Emily", "Emily"])
    }

    @MainActor @Test func cancellationIsNoFailure() async {
        let screen = Screen()
        let client = failing(NetworkError(.cancelled))
        await screen.readme(client)
        await screen.inAFunction(client)
        await screen.inAView(client)
        let model = UserModel(client: client)
        await model.load(id: 1)
        #expect(screen.shown.isEmpty && model.message == nil)
    }

    @MainActor @Test func serversOwnError() async {
        let screen = Screen()
        let body = Data(#"{"message": "A name, please."}"#.utf8)
        await screen.serversOwnError(failing(NetworkError(statusCode: 422, body: body)))
        await screen.serversOwnError(failing(NetworkError(statusCode: 500)))
        #expect(screen.shown == ["A name, please.", "The server had a problem."])
    }

    @Test func modellingAnAPI() async throws {
        let mock = MockTransport { mock in
            mock.on(.get, "/films") { _ in "[\(Self.metropolis)]" }
            mock.on(.get, "/films/metropolis") { _ in Self.metropolis }
            mock.on(.patch, "/films/metropolis") { _ in Self.metropolis }
            mock.on(.post, "/films/metropolis/rating", .status(204))
            mock.on(.get, "/questions") { _ in #"{"items":[{"title":"Why?","score":3}],"has_more":false}"# }
        }
        let client = APIClient.mock(mock)
        let film = Film(id: "metropolis", title: "Metropolis", year: 1927)
        #expect(try await ModellingAnAPI.threeForms(client) == [film, film, film])
        #expect(mock.requests.map(\.request.target) == ["/films/metropolis", "/films/metropolis", "/films?year=1927"])
        #expect(try await ModellingAnAPI.wholeAnswer(client) == "Metropolis")
        #expect(try await client.send(.films) == [film])
        #expect(try await client.send(CountFilms()) == 1)
        #expect(try await client.send(.rename("metropolis", to: "M")) == film)
        try await client.send(.rate("metropolis", Rating(stars: 5)))
        try await client.send(RateFilm(id: "metropolis", rating: Rating(stars: 4)))
        let sent = try mock.requests.suffix(3).map { try JSONDecoder().decode(JSONValue.self, from: $0.body) }
        #expect(sent == [["title": "M", "tags": ["renamed", 1]], ["stars": 5], ["stars": 4]])
        let questions = [Question(title: "Why?", score: 3)]
        #expect(try await client.send(.questions(tagged: "swift")) == questions)
    }

    @Test func environments() {
        #expect(ModellingAnAPI.environments(isLive: true).baseURL?.description == "https://api.example.com/v1")
        #expect(ModellingAnAPI.environments(isLive: false).baseURL?.description == "https://staging.example.com/v1")
        #expect(ModellingAnAPI.codecs().problems.isEmpty)
    }

    @Test func anotherOriginGetsNoToken() async throws {
        let client = APIClient.mock(pipeline: [.bearer { "token" }]) { mock in
            mock.onAny { _ in HTTPResponse(body: ResponseBody(Data("png".utf8))) }
        }
        let data = try await client.send(.poster(at: "https://cdn.example/1.png?s=64"))
        #expect(data == Data("png".utf8))
        let call = try #require(client.recordedCalls.first)
        #expect(call.request.urlString == "https://cdn.example/1.png?s=64")
        #expect(call.request.headers[.authorization] == nil)
    }

    @Test func interceptors() async throws {
        let client = Interceptors.hooks(client, clockSkew: Watch(), reachability: Watch()).adding(
            DeviceToken(token: "acme")
        )
        .adding(.bearer { "token" })
        _ = try await client.send(.user(id: 1))
        let headers = try #require(client.recordedCalls.first).request.headers
        #expect(headers["X-Device-Token"] == "acme" && headers["X-Request-ID"] != nil)
        #expect(headers[.authorization] == "Bearer token")
        #expect(Interceptors.pipeline(Keychain()).problems.isEmpty && Interceptors.redaction().problems.isEmpty)
        try Interceptors.curl(client, NewUser(firstName: "Ada"))
    }

    @Test func concurrency() async throws {
        let (user, orders) = try await ConcurrencyPage.sideBySide(client)
        #expect(user.firstName == "Emily" && orders.map(\.number) == [7])
        let many = APIClient.mock { mock in
            mock.on(.get, "/users/:id") { #"{"id": \#($0.parameters["id"] ?? ""), "firstName": "Ann"}"# }
        }
        let users = try await ConcurrencyPage.users(Array(1...9), many)
        #expect(users.map(\.id).sorted() == Array(1...9))
        #expect(await ConcurrencyPage.checksum(of: Data([1, 2])) == 33)
    }

    @MainActor @Test func viewModel() async {
        let model = UserModel(client: client)
        await model.load(id: 1)
        #expect(model.user?.firstName == "Emily" && model.message == nil)
        let handle = ConcurrencyPage.completion(client, Screen())
        #expect(handle.isCancelled)
    }
}
