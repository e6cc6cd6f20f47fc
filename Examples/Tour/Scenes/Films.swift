// SPDX-License-Identifier: MIT

import Curlew

struct Film: Decodable, Identifiable {
    let id, title: String
    let year: Int
    let releaseDate: Date
    let averageRating: Double?
}

struct Character: Decodable {
    let name, voicedBy: String
}

/// All calls of a service in one enum: the compiler sees to it that no case is forgotten.
enum FilmsAPI: Route {
    case list(limit: Int)
    case film(Film.ID)
    case characters(Film.ID)
    case rate(Film.ID, stars: Int)

    var method: HTTPMethod {
        switch self {
        case .list, .film, .characters: .get
        case .rate: .post
        }
    }

    var path: RequestPath {
        switch self {
        case .list: "/films"
        case .film(let id): "/films/\(id)"
        case .characters(let id): "/films/\(id)/characters"
        case .rate(let id, _): "/films/\(id)/rating"
        }
    }

    var query: QueryItems {
        switch self {
        case .list(let limit): ["limit": limit]
        case .film, .characters, .rate: [:]
        }
    }

    var content: RequestContent {
        switch self {
        case .rate(_, let stars): .json(["stars": stars])
        case .list, .film, .characters: .none
        }
    }
}

extension Stage {
    /// This service writes `release_date` and ISO 8601, so its client has codecs that read them.
    var films: APIClient {
        APIClient(
            baseURL: "\(url)/v1", pipeline: [CallPrinter(home: url)],
            configuration: APIClient.Configuration(codecs: .snakeCase))
    }
}

struct Films: Scene {
    let title = "Films"
    let about = "An enum of calls. What comes back is named at the call, or inferred from where it goes."

    func run(on stage: Stage) async throws {
        let client = stage.films

        let films: [Film] = try await client.send(FilmsAPI.list(limit: 2).decoding())
        for film in films {
            stage.show(film.id, "\(film.title), \(film.year), released \(film.releaseDate.formatted(.iso8601))")
        }
        stage.expect(films.map(\.id) == ["toy-story", "a-bugs-life"], "two films, with their dates decoded")

        let characters = try await client.send(FilmsAPI.characters("toy-story").decoding([Character].self))
        stage.show("characters", characters.map { "\($0.name) (\($0.voicedBy))" }.joined(separator: ", "))
        stage.expect(characters.first?.name == "Woody", "Woody comes first")

        _ = try await client.send(FilmsAPI.rate("toy-story", stars: 5).decoding(Film.self))
        let rated = try await client.send(FilmsAPI.rate("toy-story", stars: 4).decoding(Film.self))
        stage.show("rating", rated.averageRating ?? 0)
        stage.expect(rated.averageRating == 4.5, "two ratings make an average")
    }
}
