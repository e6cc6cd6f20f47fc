// SPDX-License-Identifier: MIT

import Curlew

/// What the screens know of the catalogue: they neither see nor care where it comes from.
public protocol FilmService: Sendable {
    /// A part of the catalogue, in its order. Fewer than `limit` are the last ones.
    func films(skip: Int, limit: Int) async throws(NetworkError) -> Sourced<[Film]>
    /// One film.
    func film(_ id: Film.ID) async throws(NetworkError) -> Sourced<Film>
    /// Who is in it.
    func characters(of id: Film.ID) async throws(NetworkError) -> Sourced<[FilmCharacter]>
    /// Counts a rating, and returns the film with it.
    func rate(_ id: Film.ID, stars: Int) async throws(NetworkError) -> Sourced<Film>
    /// Sends a picture from a file. For who has signed in.
    func uploadPoster(_ path: String, for id: Film.ID) async throws(NetworkError) -> PosterReceipt
    /// From now on calls are made for the signed-in user.
    func signIn(_ name: String, password: String) async throws(NetworkError)
    /// And from now on they are not.
    func signOut() async throws(NetworkError)
}

/// A value, and where it came from.
public struct Sourced<Value: Sendable>: Sendable {
    /// What was asked for.
    public var value: Value
    /// Where it came from.
    public let source: FilmSource
    /// The same in a sentence for the developer.
    public let verdict: String

    /// A value from somewhere; for previews and tests.
    public init(_ value: Value, from source: FilmSource = .server, verdict: String = "") {
        self.value = value
        self.source = source
        self.verdict = verdict
    }

    init(_ response: Response<Value>) {
        self.init(response.value, from: FilmSource(response), verdict: "\(response.cacheStatus)")
    }
}

/// Where a value came from.
public enum FilmSource: Hashable, Sendable {
    /// The server has just sent it, or said that it is still good.
    case server
    /// It was kept, and is good for some time yet.
    case cache
    /// The server does not respond. This is what it said then.
    case offline(asOf: Date)

    init<Value>(_ response: Response<Value>) {
        switch response.served {
        case .cache: self = .cache
        case .stale: self = .offline(asOf: HTTPDate(response.headers[.date] ?? "")?.date ?? .distantPast)
        default: self = .server
        }
    }
}
