// SPDX-License-Identifier: MIT

import Curlew

/// A film of the catalogue.
public struct Film: Codable, Identifiable, Hashable, Sendable {
    /// Its name in paths: "toy-story".
    public let id: String
    /// Its name for people.
    public let title: String
    /// When it was first shown.
    public let year: Int
    /// The day of that.
    public let releaseDate: Date
    /// How long it is.
    public let runningMinutes: Int
    /// How many people have rated it.
    public var ratingCount: Int
    /// The user's rating, from one to five; nil if there is none.
    public var averageRating: Double?

    /// A film, for previews and tests.
    public init(
        id: String, title: String, year: Int, releaseDate: Date, runningMinutes: Int = 90, ratingCount: Int = 0,
        averageRating: Double? = nil
    ) {
        self.id = id
        self.title = title
        self.year = year
        self.releaseDate = releaseDate
        self.runningMinutes = runningMinutes
        self.ratingCount = ratingCount
        self.averageRating = averageRating
    }

    /// The film once a rating of this many stars is counted: what the server will say, if it takes the rating.
    public func rated(_ stars: Int) -> Film {
        var film = self
        film.ratingCount += 1
        film.averageRating = ((averageRating ?? 0) * Double(ratingCount) + Double(stars)) / Double(film.ratingCount)
        return film
    }
}

/// A person in a film.
public struct FilmCharacter: Codable, Hashable, Sendable {
    /// Who it is.
    public let name: String
    /// Who speaks.
    public let voicedBy: String
}

/// What the server says of a poster that has arrived.
public struct PosterReceipt: Codable, Hashable, Sendable {
    /// Whose poster it is.
    public let filmId: Film.ID
    /// The name of the file.
    public let fileName: String
    /// What it is: "image/png".
    public let mediaType: String
    /// How long it is.
    public let bytes: Int
    /// Who sent it.
    public let uploadedBy: String
}
