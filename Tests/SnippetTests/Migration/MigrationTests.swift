// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting
import Foundation
import Testing

#if os(Linux)
import FoundationNetworking
#endif

/// Runs what the migration pages show.
@Suite(.timeLimit(.minutes(1)))
struct MigrationTests {
    private func signedIn(_ pipeline: Pipeline, _ configure: (MockTransport) -> Void) -> APIClient {
        .mock(baseURL: "https://api.example.com", pipeline: pipeline, configure)
    }

    private func temporaryFile(_ text: String = "") throws -> URL {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try Data(text.utf8).write(to: file)
        return file
    }

    // MARK: URLSession

    @Test func fromURLSession() async throws {
        typealias Page = MigratingFromURLSession
        let order = #"{"id": 7, "title": "Tea", "placed_at": "2026-01-31T08:30:00Z"}"#
        let client = APIClient.mock(
            baseURL: "https://api.example.com/v1", configuration: APIClient.Configuration(codecs: .snakeCase)
        ) {
            $0.on(nil, "/v1/orders/:id") { _ in order }
            $0.on(.post, "/v1/orders") { _ in order }
            $0.on(.post, "/v1/orders/7/receipt", .status(204))
            $0.on(.get, "/v1/orders/export") { _ in HTTPResponse.text("id;title") }
        }
        #expect(Page.client().problems.isEmpty)
        #expect(try await Page.get(client).title == "Tea")
        let old = try URLRequest(url: #require(URL(string: "https://api.example.com/v1/orders/7")))
        #expect(try await Page.readyMade(client, old).id == 7)
        #expect(try await Page.post(client).id == 7)
        _ = try await Page.retry(client)
        #expect(client.recordedCalls.last?.request.headers[.idempotencyKey] != nil)

        let file = try temporaryFile("photo")
        defer { try? FileManager.default.removeItem(at: file) }
        try await Page.upload(client, file.path)
        #expect(client.recordedCalls.last?.text.contains("photo") == true)
        let saved = file.appendingPathExtension("saved")
        defer { try? FileManager.default.removeItem(at: saved) }
        try await Page.download(client, to: saved)
        #expect(try String(contentsOf: saved, encoding: .utf8) == "id;title")
        try await Page.test()
    }

    @Test func refreshFromURLSession() async throws {
        let store = TokenStore()
        let client = signedIn(MigratingFromURLSession.pipeline(store)) {
            $0.on(.post, "/auth/login") { _ in #"{"accessToken": "old", "refreshToken": "r"}"# }
            $0.on(.post, "/auth/refresh") { _ in #"{"accessToken": "new", "refreshToken": "r"}"# }
            $0.on(.get, "/orders/:id") { call in
                call.request.headers[.authorization] == "Bearer new"
                    ? .json(text: #"{"id": 7, "title": "Tea", "placedAt": 0}"#) : .status(401)
            }
        }
        try await MigratingFromURLSession.signIn(client, store)
        #expect(try await MigratingFromURLSession.get(client).title == "Tea")
        #expect(client.recordedCalls.filter { $0.path == "/auth/refresh" }.count == 1)
    }

    @Test func errorsFromURLSession() async {
        typealias Page = MigratingFromURLSession
        let missing = APIClient.mock { $0.fail(with: NetworkError(statusCode: 404)) }
        #expect(await Page.errors(missing) == "There is no such order.")
        let refused = APIClient.mock {
            $0.fail(with: NetworkError(statusCode: 422, body: Data(#"{"message": "No."}"#.utf8)))
        }
        #expect(await Page.errors(refused) == "No.")
        #expect(await Page.errors(APIClient.mock { $0.fail(with: NetworkError(.cancelled)) }) == "")
    }

    @MainActor @Test func cancelledLoadShowsNothing() async {
        let model = MigratingFromURLSession.OrderModel(client: .mock { $0.fail(with: NetworkError(.cancelled)) })
        await model.load()
        #expect(model.order == nil && model.message == nil)
    }

    @Test func completionFromURLSession() async {
        let client = APIClient.mock { $0.fail(with: NetworkError(statusCode: 503)) }
        let text = await withCheckedContinuation { continuation in
            _ = MigratingFromURLSession.completion(client) { continuation.resume(returning: $0) }
        }
        #expect(text == "The service is not available right now.")
    }

    // MARK: A home-made layer

    @Test func fromAHomeMadeLayer() async throws {
        typealias Page = MigratingFromAHomeMadeLayer
        let film = #"{"id": "toy-story", "title": "Toy Story", "year": 1995}"#
        let client = APIClient.mock {
            $0.on(.get, "/films/toy-story") { _ in film }
            $0.on(.get, "/films") { _ in "[\(film)]" }
            $0.on(.post, "/films/:id/rating") { _ in #"{"stars": 5}"# }
            $0.on(.post, "/films/:id/poster", .status(204))
        }
        #expect(try await Page.moved(client).year == 1995)
        #expect(client.recordedCalls.map(\.request.target) == ["/films/toy-story?lang=en"])
        #expect(client.recordedCalls.first?.routeName == "LegacyFilm")
        #expect(try await Page.get(client).1.count == 1)
        #expect(try await Page.post(client).stars == 5)
        let file = try temporaryFile("poster")
        defer { try? FileManager.default.removeItem(at: file) }
        try await Page.upload(client, file.path)
        #expect(Page.client(.staging, TokenStore()).problems.isEmpty)
        try await Page.test()
        try await Page.testFailure()
    }

    @Test(arguments: [
        (401, "Please sign in."), (404, "There is no such film."), (503, "The service is not available right now."),
    ])
    func errorsFromAHomeMadeLayer(status: Int, text: String) async {
        let client = APIClient.mock { $0.fail(with: NetworkError(statusCode: status)) }
        #expect(await MigratingFromAHomeMadeLayer.errors(client) == text)
    }

    @Test("A refresh that failed is no reason to sign in again, unlike one that was refused")
    func refreshesOfAHomeMadeLayer() async {
        for failure in [NetworkError.AuthFailure.refreshFailed, .refreshRefused] {
            let client = APIClient.mock { $0.fail(with: NetworkError(.notAuthenticated(failure))) }
            let text = await MigratingFromAHomeMadeLayer.errors(client)
            #expect((text == "Please sign in.") == (failure == .refreshRefused), "\(failure): \(text)")
        }
    }

    // MARK: Alamofire

    @Test func fromAlamofire() async throws {
        typealias Page = MigratingFromAlamofire
        let client = APIClient.mock {
            $0.on(.get, "/stations/:id") { _ in Page.Station(id: 7, name: "Harbour") }
            $0.on(.get, "/stations") { _ in [Page.Station(id: 7, name: "Harbour")] }
            $0.on(.post, "/stations") { _ in Page.Station(id: 7, name: "Harbour") }
            $0.on(.post, "/stations/7/photo", .status(204))
            $0.on(.get, "/stations/7/archive") { _ in HTTPResponse.text("rain") }
        }
        #expect(try await Page.get(client).name == "Harbour")
        #expect(try await Page.search(client).count == 1)
        #expect(client.recordedCalls.last?.request.target == "/stations?name=north&tag=rain&tag=wind")
        #expect(try await Page.post(client).id == 7)
        let file = try temporaryFile("photo")
        defer { try? FileManager.default.removeItem(at: file) }
        try await Page.upload(client, file.path)
        let saved = file.appendingPathExtension("saved")
        defer { try? FileManager.default.removeItem(at: saved) }
        try await Page.download(client, to: saved)
        #expect(try String(contentsOf: saved, encoding: .utf8) == "rain")
        #expect(await Page.errors(APIClient.mock { $0.fail(with: NetworkError(.timedOut(.total))) }) == "Later.")
        #expect(Page.pinned().first?.keys.count == 2)
        #expect(Page.retry().problems.isEmpty)
        try await Page.test()
    }

    @Test func formsFromAlamofire() async throws {
        typealias Page = MigratingFromAlamofire
        let store = TokenStore()
        let client = signedIn(Page.pipeline(store)) {
            $0.on(.post, "/oauth/token") { _ in #"{"access_token": "a", "refresh_token": "r"}"# }
        }
        try await Page.signIn(client, store)
        #expect(client.recordedCalls.first?.text == "grant_type=password&username=ada&password=secret")
        #expect(try await store.tokens?.accessToken == "a")
    }

    @Test func interceptorFromAlamofire() async throws {
        let rings = Locked(0)
        let client = APIClient.mock(pipeline: [MigratingFromAlamofire.Maintenance { rings.withLock { $0 += 1 } }]) {
            $0.on(.get, "/stations/:id", .status(503))
        }
        _ = try? await MigratingFromAlamofire.get(client)
        #expect(rings.withLock { $0 } == 1)
        #expect(client.recordedCalls.first?.request.headers["X-Client"] == "weather/4.2")
    }

    // MARK: Moya

    @Test func fromMoya() async throws {
        typealias Page = MigratingFromMoya
        let client = APIClient.mock {
            $0.on(Page.Code.self) { call in
                let one = #"{"id": 7, "name": "curlew"}"#
                if case .repositories = call { return "[\(one)]" }
                return one
            }
            $0.on(Page.GetRepository.self) { Page.Repository(id: $0.id, name: "curlew") }
        }
        #expect(try await Page.get(client).0.count == 1)
        #expect(try await Page.post(client).name == "curlew")
        #expect(try await Page.endpoint(client).id == 7)
        let file = try temporaryFile("logo")
        defer { try? FileManager.default.removeItem(at: file) }
        try await Page.upload(client, file.path)
        let missing = APIClient.mock { $0.fail(with: NetworkError(statusCode: 404)) }
        #expect(await Page.errors(missing) == "There is no such repository.")
        #expect(Page.cancel(client).isCancelled)
        try await Page.test()
    }

    @Test func spinnerFromMoya() async throws {
        let count = Locked((now: 0, most: 0))
        let spinner = MigratingFromMoya.Spinner { change in
            count.withLock {
                $0.now += change
                $0.most = max($0.most, $0.now)
            }
        }
        let client = APIClient.mock(pipeline: [spinner]) { $0.on(.get, "/repositories/7", .status(500)) }
        _ = try? await MigratingFromMoya.endpoint(client)
        #expect(count.withLock { $0 } == (0, 1))
    }

    // MARK: Get

    @Test func fromGet() async throws {
        typealias Page = MigratingFromGet
        let client = APIClient.mock {
            $0.on(.get, "/issues/7") { _ in Page.Issue(id: 7, title: "It rains") }
            $0.on(.post, "/issues") { _ in Page.Issue(id: 7, title: "It rains") }
            $0.on(nil, "/issues/7/*rest", .status(204))
        }
        #expect(try await Page.get(client).1.status == .ok)
        #expect(try await Page.post(client).id == 7)
        #expect(try await Page.retry(client).id == 7)
        #expect(try await Page.cancel(client)?.id == 7)
        let file = try temporaryFile("log")
        defer { try? FileManager.default.removeItem(at: file) }
        try await Page.upload(client, file.path)
        #expect(client.recordedCalls.last?.request.headers[.contentType] == "text/plain; charset=utf-8")
        let refused = APIClient.mock {
            $0.fail(with: NetworkError(statusCode: 422, body: Data(#"{"message": "No."}"#.utf8)))
        }
        #expect(await Page.errors(refused) == "No.")
        try await Page.test()
    }

    @Test func tokenFromGet() async throws {
        let client = APIClient.mock(
            baseURL: "https://api.example.com", pipeline: MigratingFromGet.token(MigratingFromGet.Keychain()).pipeline
        ) { $0.on(.get, "/issues/7") { _ in MigratingFromGet.Issue(id: 7, title: "It rains") } }
        _ = try await client.send(MigratingFromGet.Paths.issue(7))
        #expect(client.recordedCalls.first?.request.headers[.authorization] == "Bearer abc")
    }
}
