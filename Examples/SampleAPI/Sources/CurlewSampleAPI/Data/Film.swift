// SPDX-License-Identifier: MIT

/// A film in the catalogue.
struct Film: Identifiable, Sendable {
    /// A character in a film, with the name of the voice actor. Encoded in snake case.
    struct Character: Encodable, Sendable {
        let name: String
        let voicedBy: String
    }

    let id: String
    let title: String
    let year: Int
    /// The date of the release in ISO 8601 format, without a time.
    let releaseDate: String
    let runningMinutes: Int
    let characters: [Character]

    private init(
        _ id: String, _ title: String, released: String, minutes: Int, _ voices: KeyValuePairs<String, String>
    ) {
        self.id = id
        self.title = title
        year = released.split(separator: "-").first.flatMap { Int($0) } ?? 0
        releaseDate = released
        runningMinutes = minutes
        characters = voices.map { Character(name: $0.key, voicedBy: $0.value) }
    }

    static let all = [
        Film(
            "toy-story", "Toy Story", released: "1995-11-22", minutes: 81,
            ["Woody": "Tom Hanks", "Buzz Lightyear": "Tim Allen", "Bo Peep": "Annie Potts"]),
        Film(
            "a-bugs-life", "A Bug’s Life", released: "1998-11-25", minutes: 95,
            ["Flik": "Dave Foley", "Princess Atta": "Julia Louis-Dreyfus"]),
        Film(
            "toy-story-2", "Toy Story 2", released: "1999-11-24", minutes: 92,
            ["Woody": "Tom Hanks", "Buzz Lightyear": "Tim Allen", "Jessie": "Joan Cusack"]),
        Film(
            "monsters-inc", "Monsters, Inc.", released: "2001-11-02", minutes: 92,
            ["Sulley": "John Goodman", "Mike Wazowski": "Billy Crystal", "Boo": "Mary Gibbs"]),
        Film(
            "finding-nemo", "Finding Nemo", released: "2003-05-30", minutes: 100,
            ["Marlin": "Albert Brooks", "Dory": "Ellen DeGeneres", "Nemo": "Alexander Gould"]),
        Film(
            "the-incredibles", "The Incredibles", released: "2004-11-05", minutes: 115,
            ["Bob Parr": "Craig T. Nelson", "Helen Parr": "Holly Hunter", "Edna Mode": "Brad Bird"]),
        Film(
            "ratatouille", "Ratatouille", released: "2007-06-29", minutes: 111,
            ["Remy": "Patton Oswalt", "Alfredo Linguini": "Lou Romano"]),
        Film(
            "up", "Up", released: "2009-05-29", minutes: 96,
            ["Carl Fredricksen": "Ed Asner", "Russell": "Jordan Nagai", "Dug": "Bob Peterson"]),
    ]
}
