// SPDX-License-Identifier: MIT

import Curlew

/// What `work` makes of each item, in the order of the items, with at most `limit` of them in progress at a time.
///
/// A task for each item at once would be shorter; with a thousand items it would be a thousand calls that wait for
/// connections while their deadlines pass. The first failure ends what is in progress, and is thrown.
func fanOut<Item: Sendable, Output: Sendable>(
    _ items: [Item], atMost limit: Int, _ work: @escaping @Sendable (Item) async throws -> Output
) async throws(NetworkError) -> [Output] {
    do {
        return try await withThrowingTaskGroup(of: (Int, Output).self) { group in
            var outputs = [Output?](repeating: nil, count: items.count)
            for (index, item) in items.enumerated() {
                // A call that ends makes room for the next one.
                if index >= max(1, limit), let (done, output) = try await group.next() { outputs[done] = output }
                group.addTask { (index, try await work(item)) }
            }
            while let (done, output) = try await group.next() { outputs[done] = output }
            return outputs.compactMap(\.self)
        }
    } catch {
        throw NetworkError(error)
    }
}

/// A person in the company's directory, with a picture on another server.
struct Person: Decodable, Identifiable, Hashable, Sendable {
    let id: Int
    let firstName, image: String
}

extension Request {
    /// The list is used an object, `{"users": …}`.
    static var people: Request<[Person]> { Request<[Person]>.get("/users").unwrapping("users") }
}

extension APIClient {
    /// The pictures of people in their order, at most four at a time.
    func portraits(of people: [Person], atMost limit: Int = 4) async throws(NetworkError) -> [Data] {
        try await fanOut(people, atMost: limit) { try await send(Request<Data>.get(url: $0.image, name: "portrait")) }
    }
}
