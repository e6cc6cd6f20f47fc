// SPDX-License-Identifier: MIT

import Curlew
import CurlewRecording
import CurlewTesting
import Foundation  // for URL

/// Also the calls of the picture in the README: `Scripts/pictures` draws what is written to `file`.
struct Recording: Scene {
    let title = "Recorder"
    let about = "The last calls of a client: each request, its phases, and the reason for every decision."
    /// Where the document is written, if anywhere.
    let file: String?

    func run(on stage: Stage) async throws {
        let shop = try Self.shop()
        defer { shop.stop() }
        let recorder = FlightRecorder()
        let client = APIClient(
            baseURL: "\(shop.url)",
            pipeline: .standard.adding(.caching()).adding(.recording(recorder))
                .adding(CallPrinter(home: shop.url), changesPrincipal: false))

        try await client.send(.post("/session", json: ["name": "ada"]))
        async let profile: Void = client.send(.get("/profile"))
        async let orders: Void = client.send(.get("/orders"))
        async let news: Void = client.send(.get("/news"))
        _ = try await (profile, orders, news)

        // The second one comes from the cache.
        for _ in 1...2 { _ = try await client.send(Request<Data>.get("/films")) }
        try await client.send(.get("/films/latest"))

        shop.enqueue(
            MockResponse().delayed(by: .milliseconds(25)).interrupted(by: .reset, at: .insideHead),
            .status(.serviceUnavailable).delayed(by: .milliseconds(15)))
        let basket = try await client.response(for: Request<Void>.get("/basket"))
        for attempt in basket.attempts { stage.show("basket", attempt) }

        _ = try await client.send(Request<Data>.get("/trailer"))
        do {
            try await client.send(.get("/films/none"))
            stage.unexpected("a film that is not there")
        } catch {
            stage.expect(error.isNotFound, "the failed call is recorded too")
        }

        let requests = recorder.records.map(\.requestCount)
        stage.show("recorded", "\(requests.count) calls, \(requests.reduce(0, +)) requests")
        stage.expect(
            requests == [1, 1, 1, 1, 1, 0, 2, 3, 1, 1],
            "one call sent nothing, one followed a redirect, one needed three")
        if let file { try recorder.har().data().write(to: URL(fileURLWithPath: file)) }
    }

    /// A shop whose responses take a moment.
    private static func shop() throws -> MockServer {
        let server = try MockServer()
        func route(_ method: HTTPMethod, _ path: String, after milliseconds: Int, _ response: MockResponse) {
            server.on(method, path, respond: response.delayed(by: .milliseconds(milliseconds)))
        }
        route(.post, "/session", after: 45, .json(text: #"{"user": "ada"}"#, status: .created))
        route(.get, "/profile", after: 60, .json(text: #"{"name": "Ada"}"#))
        route(.get, "/orders", after: 95, .json(text: "[]"))
        route(.get, "/news", after: 75, .json(text: "[]"))
        route(.get, "/films", after: 40, .json(text: "[]").with(headers: [.cacheControl: "max-age=60"]))
        route(.get, "/films/latest", after: 20, .redirect(to: "/films/metropolis"))
        route(.get, "/films/metropolis", after: 40, .json(text: #"{"title": "Metropolis"}"#))
        route(.get, "/films/none", after: 20, .problem(.notFound, "There is no such film."))
        route(.get, "/basket", after: 30, .json(text: "[]"))
        route(
            .get, "/trailer", after: 20,
            .generated(bytes: 400_000).dripping(bytesPerChunk: 40_000, every: .milliseconds(7)))
        return server
    }
}
