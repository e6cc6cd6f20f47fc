// SPDX-License-Identifier: MIT

/// A product in the shop.
struct Product: Encodable, Sendable {
    let id: Int
    let title, description, category: String
    let price, rating: Double
    let stock: Int
    let tags: [String]

    private init(
        _ id: Int, _ title: String, _ description: String, _ category: String, price: Double, rating: Double,
        stock: Int, tags: [String]
    ) {
        self.id = id
        self.title = title
        self.description = description
        self.category = category
        self.price = price
        self.rating = rating
        self.stock = stock
        self.tags = tags
    }

    static let all = [
        Product(
            1, "Field notebook", "A5, waterproof paper, stitched", "stationery", price: 7.5, rating: 4.7, stock: 120,
            tags: ["paper", "outdoors"]),
        Product(
            2, "Binoculars 8×32", "Light enough for a whole day by the shore", "optics", price: 189, rating: 4.8,
            stock: 14, tags: ["birds", "outdoors"]),
        Product(
            3, "Spotting scope", "20–60× zoom with a tripod mount", "optics", price: 640, rating: 4.5, stock: 3,
            tags: ["birds"]),
        Product(
            4, "Rubber boots", "Knee-high, for mud flats and meadows", "clothing", price: 54.9, rating: 4.2, stock: 37,
            tags: ["outdoors"]),
        Product(
            5, "Wader's guide", "Shore birds of the northern coasts, with their calls", "books", price: 24, rating: 4.9,
            stock: 52, tags: ["birds", "paper"]),
        Product(
            6, "Phone tripod", "Fits in a coat pocket", "electronics", price: 19.99, rating: 3.9, stock: 80,
            tags: ["camera"]),
        Product(
            7, "Phone adapter for scopes", "Clamps a phone to any eyepiece", "electronics", price: 34.5, rating: 4.0,
            stock: 25, tags: ["camera", "birds"]),
        Product(
            8, "Thermos flask", "0.75 litres, keeps tea hot for a tide", "household", price: 28, rating: 4.6, stock: 61,
            tags: ["outdoors"]),
        Product(
            9, "Head torch", "With a red light that keeps night vision", "electronics", price: 32, rating: 4.4,
            stock: 44, tags: ["outdoors"]),
        Product(
            10, "Enamel mug", "With a curlew on it", "household", price: 12, rating: 5, stock: 200,
            tags: ["birds", "gift"]),
    ]
}
