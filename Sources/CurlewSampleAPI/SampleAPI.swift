// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewHTTP
import CurlewTesting

/// A small web service in your own process: real HTTP on loopback, with data to sign in to, list, change and break.
///
///     let api = try SampleAPI()
///     let client = APIClient(baseURL: BaseURL(stringLiteral: api.url))
///     ...
///     api.stop()
///
/// Its areas, each in the style of a service that many people have learned with:
///
/// | Path | What it is |
/// |---|---|
/// | `/auth/login`, `/auth/refresh`, `/auth/me` | JSON Web Tokens for `emilys` with `emilyspass`, and the current user |
/// | `/users`, `/products`, `/products/search` | pages with `limit` and `skip`, inside an object with the total |
/// | `/2.2/questions` | answers inside `{"items": …}`, snake case, seconds since 1970, avatars on the other origin |
/// | `/v1/films` | snake case, ISO 8601 dates, validators for caches, ratings, posters, errors as `{"message", "code"}` |
/// | `/team/users` | people to create, change and remove, avatars to upload, errors as problem details (RFC 9457) |
/// | `/team/dashboard/…` | three calls that each take a moment |
/// | `/files/NAME?bytes=N` | a download of any size up to 64 MiB with its checksum in a field |
///
/// `GET /` lists the routes. Every route takes `?fail=503` (any status from 400; 429 and 503 with `&retry_after=N`
/// seconds) to fail before it does anything, and `?delay=N` to wait so many milliseconds, at most 30 000. Every answer
/// says in `X-Credentials-Received` which kind of credential the request carried, or `none`, and repeats its
/// `X-Request-ID`.
///
/// Data lives in memory and is the same at each start; tokens are random, and end with the service unless it is told where
/// to keep who is signed in. It runs until ``stop()`` or until the last
/// reference goes. Meant for demonstrations and tests: there is no TLS, and its passwords are public.
public final class SampleAPI: Sendable {
    private let main: MockServer
    private let assets: MockServer

    /// Starts the service on two free ports of 127.0.0.1. Throws if the system has no socket or thread left.
    ///
    /// - `time`: what the lives of tokens are measured with.
    /// - `sessionsPath`: a file that keeps who is signed in, so that the tokens of the last service with that file are good
    ///   for this one. Default nil: nobody is.
    public init(time: any TimeSource = SystemTime(), sessionsPath: String? = nil) throws {
        var configuration = MockServer.Configuration()
        configuration.maximumBodyBytes = 16 * 1024 * 1024
        // It may run for days; what was sent to it is not its business.
        configuration.maximumRecordedRequests = 0
        main = try MockServer(configuration)
        assets = try MockServer(configuration)

        var routes = SampleRoutes()
        let auth = AuthArea(assetsURL: assets.url, time: time, sessionsPath: sessionsPath)
        auth.add(to: &routes)
        DirectoryArea(assetsURL: assets.url).add(to: &routes)
        QuestionsArea(assetsURL: assets.url).add(to: &routes)
        FilmsArea(auth: auth).add(to: &routes)
        TeamArea().add(to: &routes)
        DashboardArea().add(to: &routes)
        FilesArea().add(to: &routes)
        routes.install(on: main)

        var pictures = SampleRoutes()
        PicturesArea().add(to: &pictures)
        pictures.install(on: assets)
    }

    /// The origin of the service, "http://127.0.0.1:PORT".
    public var url: String { main.url }

    /// The origin of the pictures: the same host on another port, so no credential of ``url`` belongs to it.
    public var assetsURL: String { assets.url }

    /// How many requests were read so far, on both origins.
    public var requestCount: Int { main.requestCount + assets.requestCount }

    /// Closes both ports and every connection. May be called again.
    public func stop() {
        main.stop()
        assets.stop()
    }
}

extension SampleAPI: CustomStringConvertible {
    /// Both origins.
    public var description: String { "SampleAPI(\(url), assets: \(assetsURL))" }
}
