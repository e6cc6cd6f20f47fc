// SPDX-License-Identifier: MIT

import Curlew
import CurlewSQLite

/// The catalogue of one environment, over HTTP.
///
///     logging → coalescing → cache → retry → bearer → transport
///
/// Screens that ask for the same thing at the same time share one request, and what was read once can be read without
/// the server for a month.
public struct APIFilmService: FilmService {
    private let client: APIClient
    private let tokens = TokenStore()

    /// The service in `environment`. No user is signed in: tokens of one environment do not work in another.
    ///
    /// - `cache`: where answers are kept; see `diskCache`. Environments can share one.
    /// - `transport`: another one than the platform's, for tests.
    /// - `log`: takes two lines for each call, without secrets.
    public init(
        _ environment: FilmEnvironment, cache: any HTTPCache.Store = HTTPCache.MemoryStore(),
        transport: (any Transport)? = nil, configuration: APIClient.Configuration = APIClient.Configuration(),
        log: @escaping @Sendable (LogEntry) -> Void = LogEntry.standardError
    ) {
        var options = HTTPCache.Options.standard
        options.staleIfError = .seconds(30 * 86_400)
        let pipeline: Pipeline = [
            .logging(sink: log), .coalescing(), .caching(store: cache, options: options), .retry(.never),
            .bearer(tokens),
        ]
        var configuration = configuration
        configuration.codecs = .snakeCase
        let url = environment.baseURL
        client =
            transport.map { APIClient(baseURL: url, pipeline: pipeline, transport: $0, configuration: configuration) }
            ?? APIClient(baseURL: url, pipeline: pipeline, configuration: configuration)
    }

    /// A cache that is still there at the next start. Share one among the services of a process.
    public static func diskCache(at path: String) -> any HTTPCache.Store {
        HTTPCache.SQLiteStore(path: path, byteLimit: 50 << 20)
    }

    /// The first thing that people see is worth some patience: three attempts, after waits of up to 500 ms and a
    /// second. An error of the client stays one, however often it is tried.
    public func films(skip: Int, limit: Int) async throws(NetworkError) -> Sourced<[Film]> {
        let patience = RetryPolicy(
            statuses: [500, 502, 503, 504], backoff: .exponential(base: .milliseconds(500)))
        let request: Request<[Film]> = FilmsAPI.list(skip: skip, limit: limit).decoding()
        return Sourced(try await client.response(for: request.options { $0.retry = patience }))
    }

    /// One film.
    public func film(_ id: Film.ID) async throws(NetworkError) -> Sourced<Film> {
        Sourced(try await client.response(for: FilmsAPI.film(id).decoding()))
    }

    /// Who is in it.
    public func characters(of id: Film.ID) async throws(NetworkError) -> Sourced<[FilmCharacter]> {
        Sourced(try await client.response(for: FilmsAPI.characters(id).decoding()))
    }

    /// Sent once: a repeated rating would be counted twice.
    public func rate(_ id: Film.ID, stars: Int) async throws(NetworkError) -> Sourced<Film> {
        Sourced(try await client.response(for: FilmsAPI.rate(id, Rating(stars: stars)).decoding()))
    }

    /// The file is read while it is sent, and never held in memory.
    public func uploadPoster(_ path: String, for id: Film.ID) async throws(NetworkError) -> PosterReceipt {
        try await client.send(FilmsAPI.uploadPoster(id, path: path).decoding())
    }

    /// The tokens stay in the store, which attaches them to the calls that need one.
    public func signIn(_ name: String, password: String) async throws(NetworkError) {
        let credentials = Credentials(username: name, password: password)
        let new = try await client.send(FilmsAPI.logIn(credentials).decoding(Tokens.self))
        do { try await tokens.signIn(new) } catch { throw NetworkError(error) }
    }

    /// Forgets the tokens.
    public func signOut() async throws(NetworkError) {
        do { try await tokens.signOut() } catch { throw NetworkError(error) }
    }
}
