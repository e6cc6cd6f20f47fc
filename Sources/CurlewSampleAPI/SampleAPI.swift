// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewHTTP
import CurlewTesting

/// A small web service in the current process: real HTTP on loopback, with data to sign in to, list, change and break.
///
///     let api = try SampleAPI()
///     let client = APIClient(baseURL: api.baseURL)
///     ...
///     api.stop()
///
/// Its areas, each in the style of a well-known demonstration service:
///
/// | Path | What it is |
/// |---|---|
/// | `/auth/login`, `/auth/refresh`, `/auth/me` | JSON Web Tokens for `emilys` with `emilyspass`, the current user |
/// | `/users`, `/products`, `/products/search` | pages with `limit` and `skip`, inside an object with the total |
/// | `/2.2/questions` | lists in `{"items": …}`, snake case, seconds since 1970, avatars on the other origin |
/// | `/v1/films` | snake case, ISO 8601 dates, cache validators, ratings, posters, errors as `{"message", "code"}` |
/// | `/team/users` | people to create, change and remove, avatars to upload, errors as problem details (RFC 9457) |
/// | `/team/dashboard/…` | three calls that each take a moment |
/// | `/files/NAME?bytes=N` | a download of any size up to 64 MiB with its checksum in a field |
///
/// `GET /` lists the routes. Every route accepts `?fail=503` (any status from 400; 429 and 503 with `&retry_after=N`
/// seconds), which fails the request before it has any effect, and `?delay=N`, which delays it by that number of
/// milliseconds, at most 30 000. Every response contains `X-Credentials-Received` with the kind of credential that the
/// request carried, or `none`, and repeats its `X-Request-ID`.
///
/// Data is kept in memory and is the same at each start. Tokens are random; they end with the service unless
/// `sessionsPath` names a file for the sessions. The service runs until ``stop()`` or until the last reference is
/// released. It is meant for demonstrations and tests: there is no TLS, and its passwords are public.
public final class SampleAPI: Sendable {
    private let main: MockServer
    private let assets: MockServer

    /// Starts the service on two free ports of 127.0.0.1. Throws if the system has no socket or thread left.
    ///
    /// - `time`: the clock for the lifetimes of tokens.
    /// - `sessionsPath`: a file that keeps the sessions, so that the tokens of the previous service with that file stay
    ///   valid for this one. Default nil: the service starts without sessions.
    public init(time: any TimeSource = SystemTime(), sessionsPath: String? = nil) throws {
        var configuration = MockServer.Configuration()
        configuration.maximumBodyBytes = 16 * 1024 * 1024
        // The service may run for days, so it records no requests.
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

    /// The same as a base URL.
    public var baseURL: BaseURL { BaseURL(stringLiteral: url) }

    /// The origin of the pictures: the same host on another port, so no credential of ``url`` belongs to it.
    public var assetsURL: String { assets.url }

    /// The number of requests read on both origins.
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
