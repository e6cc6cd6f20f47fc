// SPDX-License-Identifier: MIT

import Curlew

/// All calls of the service. A new one is a case, and the compiler asks what it is everywhere it matters.
enum FilmsAPI: Route, Hashable {
    case logIn(Credentials)
    case list(skip: Int, limit: Int)
    case film(Film.ID)
    case characters(Film.ID)
    case rate(Film.ID, Rating)
    case uploadPoster(Film.ID, path: String)

    var method: HTTPMethod {
        switch self {
        case .list, .film, .characters: .get
        case .logIn, .rate, .uploadPoster: .post
        }
    }

    var path: RequestPath {
        switch self {
        case .logIn: "/auth/login"
        case .list: "/v1/films"
        case .film(let id): "/v1/films/\(id)"
        case .characters(let id): "/v1/films/\(id)/characters"
        case .rate(let id, _): "/v1/films/\(id)/rating"
        case .uploadPoster(let id, _): "/v1/films/\(id)/poster"
        }
    }

    var query: QueryItems {
        switch self {
        case .list(let skip, let limit): ["skip": skip, "limit": limit]
        case .logIn, .film, .characters, .rate, .uploadPoster: [:]
        }
    }

    var content: RequestContent {
        switch self {
        case .logIn(let credentials): .json(credentials)
        case .rate(_, let rating): .json(rating)
        case .uploadPoster(_, let path): .multipart([.file("poster", path: path)])
        case .list, .film, .characters: .none
        }
    }

    /// What logs and metrics call it.
    var name: String {
        switch self {
        case .logIn: "films.logIn"
        case .list: "films.list"
        case .film: "films.film"
        case .characters: "films.characters"
        case .rate: "films.rate"
        case .uploadPoster: "films.uploadPoster"
        }
    }

    /// The catalogue is the same for all users, so it is read without a token: stored responses can be read again
    /// after another sign-in. Posters are for members; a request for one without a token is not sent.
    var options: RequestOptions {
        var options = RequestOptions()
        switch self {
        case .logIn, .list, .film, .characters: options.authentication = .anonymous
        case .rate: options.authentication = .optional
        case .uploadPoster: options.authentication = .required
        }
        return options
    }
}

/// Who wants to sign in.
struct Credentials: Codable, Hashable {
    let username: String
    let password: String
}

/// A viewer's rating: one to five stars, which the server checks.
struct Rating: Codable, Hashable {
    let stars: Int
}
