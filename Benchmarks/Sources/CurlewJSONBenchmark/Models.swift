// SPDX-License-Identifier: MIT

/// What list endpoints answer with.
struct User: Decodable {
    let id: Int
    let firstName: String
    let lastName: String
    let email: String
    let phone: String
    let age: Int
    let score: Double
    let isActive: Bool
    let company: String
    let tags: [String]
}

/// The same objects read with care; two keys are not there.
struct OptionalUser: Decodable {
    let id: Int?
    let firstName: String?
    let lastName: String?
    let email: String?
    let phone: String?
    let age: Int?
    let score: Double?
    let isActive: Bool?
    let nickname: String?
    let tags: [String]?
    let height: Double?
}

/// The same objects, of which one field matters.
struct UserID: Decodable { let id: Int }

/// The same objects with keys in snake case.
struct SnakeUser: Decodable {
    let id: Int
    let firstName: String
    let lastName: String
    let isActive: Bool
    let createdAt: Double
}

/// Ten of the keys of wide objects, in the order in which they stand there.
struct TenOfMany: Decodable {
    let key1, key4, key7, key10, key13, key16, key19, key22, key25, key28: Int
}

/// A list that links.
final class Link: Decodable {
    let value: Int
    let child: Link?
}

/// Reads whatever keys an object has, as `Dictionary` does, through a container.
struct EveryKey: Decodable {
    let sum: Int

    struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        sum = try container.allKeys.reduce(0) { try $0 &+ container.decode(Int.self, forKey: $1) }
    }
}

/// A list of which every element fails, as lists that skip what they do not know.
struct Lossy: Decodable {
    let values: [Int]

    init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        var values: [Int] = []
        while !container.isAtEnd {
            if let value = try? container.decode(Int.self) {
                values.append(value)
            } else {
                _ = try container.decode(String.self)
            }
        }
        self.values = values
    }
}
