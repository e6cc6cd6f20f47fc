// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting
import CurlewUI
import Testing

/// Runs the snippets of the articles after the first week, where a mock can show what they do.
@Suite(.timeLimit(.minutes(1)))
struct GoingFurtherTests {
    private static let page = #"[{"id": 7, "isSeen": false, "poster": "https://mock.test/7.png"}]"#

    private var screens: APIClient {
        .mock { mock in
            mock.on(.get, "/users/1") { _ in FirstWeekTests.emily }
            mock.on(.get, "/seen/7") { _ in #"{"id": 7, "isSeen": false, "poster": "https://mock.test/7.png"}"# }
            mock.on(.get, "/7.png") { _ in HTTPResponse(body: ResponseBody(Data("png".utf8))) }
            mock.on(.get, "/seen") { $0.query["page"] == "2" ? "[]" : Self.page }
            mock.on(.put, "/seen/7", .status(204))
        }
    }

    @Test func pipelinesHaveNoProblems() async throws {
        let url: BaseURL = "https://api.example.com"
        let clients = [
            RetryingPage.policies(url).0, ResiliencePage.all(url), CachingPage.inMemory(), try await CachingPage.kept(),
            CookiesPage.inMemory(), CoalescingPage.client(), URLSessionPage.client(),
            APIClient(baseURL: url, pipeline: RetryingPage.budget()),
            APIClient(baseURL: url, pipeline: ResiliencePage.each()),
        ]
        for client in clients { #expect(client.problems.isEmpty, "\(client)") }
        #expect(RetryingPage.policies(url).1.options.retry == RetryPolicy.never)
    }

    @Test func redirectsAndRetries() async throws {
        let client = APIClient.mock(pipeline: .standard) { mock in
            mock.on(.get, "/report", HTTPResponse(status: .found, headers: [.location: "/there"]))
            mock.on(.get, "/there") { _ in #"{"title": "All is well."}"# }
        }
        #expect(try await RedirectsPage.hops(client) == "https://mock.test/there")
        try await RetryingPage.history(client)
        #expect(try await RetryingPage.test().firstName == "Ada")
    }

    @Test func downloads() async throws {
        typealias Page = DownloadsPage
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let client = APIClient.mock {
            $0.on(.get, "/export") { _ in HTTPResponse.text("a,b") }
            $0.on(.get, "/film") { _ in HTTPResponse.text("film") }
        }
        #expect(try await Page.first(client, folder.path + "/today.csv").byteCount == 3)
        #expect(try await Page.named(client, folder.path).path == folder.path + "/export")
        #expect(try await Page.named(client, folder.path).path == folder.path + "/export (1)")
        try await Page.signed(client, Page.Signer(), Page.Film(), folder.path + "/signed.mp4")
        try await Page.progress(client, Page.Screen(), folder.path + "/again.mp4")
        #expect(Page.checksum(Page.Release()).checksum != nil)
    }

    @Test func uploads() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("upload-\(UUID().uuidString)")
        try Data("film".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let offset = HTTPHeaders([HTTPField(name: "Upload-Offset", value: "4")])
        let client = APIClient.mock { mock in
            mock.on("OPTIONS", "/*path", HTTPResponse(status: .noContent, headers: ["Tus-Version": "1.0.0"]))
            mock.on(.post, "/*path", HTTPResponse(status: .created, headers: [.location: "/files/1"]))
            mock.on(.patch, "/files/1", HTTPResponse(status: .noContent, headers: offset))
        }
        #expect(try await UploadsPage.first(client, file.path).length == 4)
        try await UploadsPage.plain(client, file.path)
        #expect(try await UploadsPage.resumable(client, file.path).url == "https://mock.test/files/1")
        try await UploadsPage.kept(client, file.path)
    }

    @Test func caching() async throws {
        let client = APIClient.mock(pipeline: [.caching()]) { mock in
            mock.on(.get, "/films/metropolis") { _ in
                HTTPResponse.json(text: FirstWeekTests.metropolis, headers: [.cacheControl: "max-age=60"])
            }
        }
        #expect(try await CachingPage.whereFrom(client) == "from the server, whole")
        #expect(try await CachingPage.whereFrom(client).hasPrefix("without asking: "))
        try await CachingPage.policies(client)
        #expect(client.recordedCalls.count == 2)
    }

    @Test func pages() async throws {
        let client = APIClient.mock { mock in
            mock.on(.get, "/films") { call in
                let next: HTTPHeaders = call.query["page"] == nil ? [.link: "<?page=2>; rel=next"] : [:]
                return .json(text: "[\(FirstWeekTests.metropolis)]", headers: next)
            }
            mock.on(.get, "/shelf") { _ in #"{"films": [\#(FirstWeekTests.metropolis)]}"# }
            mock.on(.post, "/search") { call in
                let isFirst = !String(decoding: call.body, as: UTF8.self).contains("after")
                return #"{"films": [\#(FirstWeekTests.metropolis)], "nextCursor": \#(isFirst ? "\"m\"" : "null")}"#
            }
            mock.on(.get, "/seen") { _ in Self.page }
        }
        try await PagesPage.loops(client)
        try await PagesPage.cursors(client)
        #expect(try await PagesPage.custom(client) == ["Metropolis", "Metropolis"])
        var saved = 0
        try await PagesPage.later(client, nil) { saved += $0.count }
        #expect(saved == 2)
        guard #available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *) else { return }
        let films = await PagesPage.screen(client)
        await films.load()
        #expect(await films.items.count == 1)
        #expect(await !films.hasMore)
    }

    @Test func batches() async throws {
        let client = APIClient.mock { mock in mock.on(.get, "/users/1") { _ in FirstWeekTests.emily } }
        #expect(try await ConcurrencyPage.users([1, 1], client).count == 2)
        #expect(try await ConcurrencyPage.found([1, 2], client).count == 1)
    }

    @Test func authentication() async throws {
        let client = APIClient.mock { mock in
            mock.on(.post, "/token") { _ in #"{"access_token": "new", "token_type": "Bearer"}"# }
        }
        let oauth = OAuth2(clientID: "app", tokenEndpoint: "https://mock.test/token")
        let store = TokenStore()
        try await AuthenticationPage.signIn(oauth, client, store, authorize: "https://mock.test/authorize") { page in
            let state = page.components(separatedBy: "state=").last?.components(separatedBy: "&").first ?? ""
            return "app://back?code=7&state=\(state)"
        }
        #expect(try await store.tokens?.accessToken == "new")

        let mock = MockTransport { $0.on(.get, "/users/1") { _ in FirstWeekTests.emily } }
        let signed = AuthenticationPage.signing(.mock(mock), key: Data("key".utf8))
        _ = try await signed.send(.user(id: 1))
        #expect(mock.requests.first?.request.headers["X-Signature"]?.isEmpty == false)
        #expect(AuthenticationPage.kinds(store, Keychain(), oauth, "secret", "key").count == 6)
    }

    @Test func aTransportOfOnesOwn() async throws {
        #if os(Linux)
        #expect(try await Transports.closure().send(.orders).isEmpty)
        let clients = Transports.engines(TransportConfiguration()) + [ConnectionsPage.client()]
        for client in clients { #expect(client.problems.isEmpty, "\(client)") }
        #endif
    }

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @MainActor @Test func userInterfaces() async throws {
        let screen = Screen()
        await UserInterfacesPage.oneValue(screens, screen)
        #expect(screen.shown == ["Emily"])
        let poster = await UserInterfacesPage.several(screens, Loadable { 7 })
        #expect(poster == Data("png".utf8))
        let list = UserInterfacesPage.list(screens)
        await list.load()
        await list.loadMore()
        #expect(list.items.map(\.id) == [7] && !list.hasMore)
        let film = try #require(list.items.first)
        try await UserInterfacesPage.change(list, film, screens)
        #expect(list.items.first?.isSeen == true)
    }
}
