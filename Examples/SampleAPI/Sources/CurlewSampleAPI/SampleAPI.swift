// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting

/// A small web service in the current process. It uses real HTTP on loopback, and lets clients sign in, list and change
/// data, and test faults.
///
///     let api = try SampleAPI()
///     let client = APIClient(baseURL: api.baseURL)
///     ...
///     api.stop()
///
/// The service has these areas, each in the style of a well-known demonstration service:
///
/// | Path | Content |
/// |---|---|
/// | `/auth/login`, `/auth/refresh`, `/auth/me` | JSON Web Tokens for user `emilys`, password `emilyspass` |
/// | `/users`, `/products`, `/products/search` | pages with `limit` and `skip`, in an object with the total |
/// | `/2.2/questions` | lists in `{"items": …}`, snake case, seconds since 1970, avatars on the other origin |
/// | `/v1/films` | snake case, ISO 8601 dates, cache validators, ratings, posters, errors as `{"message", "code"}` |
/// | `/team/users` | members to create, change and remove, uploads, problem details (RFC 9457) as errors |
/// | `/team/notices/stream` | the changes of the team as server-sent events, with one lost connection |
/// | `/team/chat?name=NAME` | a chat over WebSocket, with JSON messages |
/// | `/team/dashboard/…` | three parts of a start page, each delayed by 120 ms |
/// | `/files/NAME?bytes=N` | a download of up to 64 MiB, with its checksum in a field |
///
/// `GET /` lists the routes. Every other route accepts two query items:
///
/// - `fail=503`, or another status from 400 to 599, makes the request fail with that status before it has any effect.
///   With 429 and 503, `retry_after=N` sets the Retry-After field in seconds, by default 2.
/// - `delay=N` delays the response by N milliseconds, at most 30,000. If the handler of the route throws an error, the
///   error response is not delayed.
///
/// Every response of these routes contains `X-Credentials-Received` with the kind of credential in the request, or
/// `none`, and repeats the request's `X-Request-ID`.
///
/// The data is kept in memory and is the same at each start. Tokens are random. They become invalid when the service
/// ends, unless `sessionsPath` specifies a file for the sessions. The service runs until ``stop()`` or until the last
/// reference is released. It is meant for demonstrations and tests: there is no TLS, and the passwords are public.
public final class SampleAPI: Sendable {
    private let main: MockServer
    private let assets: MockServer

    /// Creates the service and starts it on two free ports of 127.0.0.1. Throws if the system has no free socket or
    /// thread.
    ///
    /// - `time`: the clock that determines when tokens expire.
    /// - `sessionsPath`: a file that stores the sessions. Tokens stay valid for the next service that uses the same
    ///   file. Default nil: the service starts without sessions.
    /// - `port`: the port of the service. Default 0: a free port. The server for pictures always uses a free port.
    public init(time: any TimeSource = SystemTime(), sessionsPath: String? = nil, port: Int = 0) throws {
        var configuration = MockServer.Configuration()
        configuration.maximumBodyBytes = 16 * 1024 * 1024
        // The service may run for days, so its servers record no requests.
        configuration.maximumRecordedRequests = 0
        assets = try MockServer(configuration)
        configuration.port = port
        main = try MockServer(configuration)

        var routes = SampleRoutes()
        let auth = AuthArea(assetsURL: assets.url, time: time, sessionsPath: sessionsPath)
        auth.add(to: &routes)
        DirectoryArea(assetsURL: assets.url).add(to: &routes)
        QuestionsArea(assetsURL: assets.url).add(to: &routes)
        FilmsArea(auth: auth).add(to: &routes)
        let board = NoticeBoard()
        TeamArea(board: board).add(to: &routes)
        NoticesArea(board: board).add(to: &routes)
        ChatArea().add(to: &routes)
        DashboardArea().add(to: &routes)
        FilesArea().add(to: &routes)
        routes.install(on: main)

        var pictures = SampleRoutes()
        PicturesArea().add(to: &pictures)
        pictures.install(on: assets)
    }

    /// The URL of the service without a path, such as "http://127.0.0.1:8080".
    public var url: String { main.url }

    /// The URL of the service as the base URL of a client.
    public var baseURL: BaseURL { BaseURL(stringLiteral: url) }

    /// The URL of the server for pictures. Its port differs from the port of ``url``, so it is another origin, and
    /// clients send no credential for ``url`` to it.
    public var assetsURL: String { assets.url }

    /// The number of requests that both servers have read.
    public var requestCount: Int { main.requestCount + assets.requestCount }

    /// Closes both ports and every connection. May be called more than once.
    public func stop() {
        main.stop()
        assets.stop()
    }
}

extension SampleAPI: CustomStringConvertible {
    /// The URLs of both origins.
    public var description: String { "SampleAPI(\(url), assets: \(assetsURL))" }
}
