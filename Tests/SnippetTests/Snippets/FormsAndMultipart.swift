// SPDX-License-Identifier: MIT

import Curlew

nonisolated struct TicketOrder: Encodable {
    var film = "nosferatu"
    var seats = [7, 8]
    var buyer = ["name": "Ann"]
}

nonisolated struct FilmFilter: Encodable {
    var genre: String?
    var years: [Int]
}

enum FormsPage {
    static func forms(_ client: APIClient, _ order: TicketOrder) async throws {
        try await client.send(.post("/login", body: .form(["user": "ann", "remember": true])))
        // film=…&seats=7&seats=8&buyer[name]=Ann
        try await client.send(.post("/orders", body: .form(order)))

        let php = FormEncoder(lists: .brackets, dates: .secondsSince1970)
        // seats[]=7&seats[]=8
        try await client.send(.post("/orders", body: .form(order, using: php)))
    }

    static func query(_ client: APIClient, _ filter: FilmFilter) async throws -> [Film] {
        let films: [Film] = try await client.send(.get("/films", query: try QueryItems(encoding: filter)))

        return films
    }

    static func upload(_ client: APIClient, _ film: Rating, path: String, poster: Data) async throws {
        let form: MultipartForm = [
            .field("caption", "On the beach"),
            .field("stars", 5),
            .file("photo", path: path),  // read while it is sent
            // image/png, by its name
            .data("poster", poster, fileName: "poster.png"),
            .part("rating", .json(film)),  // the client's JSON codec
        ]
        try await client.send(.post("/photos", body: .multipart(form)))
    }

    static func stream(_ lines: AsyncStream<Data>, size: Int64) -> MultipartForm {
        let log = RequestContent.stream(length: size, replay: .never, type: .text) { RequestBody.Chunks(lines) }
        let form: MultipartForm = [.field("host", "a1"), .part("log", log, fileName: "today.log")]

        return form
    }

    static func related(_ client: APIClient, path: String) async throws {
        let upload = MultipartForm(
            [
                .part("metadata", .json(["name": "beach.jpg"])),
                .part("media", .file(path), headers: ["Content-ID": "<media>"]),
            ], subtype: .related)
        try await client.send(.post("/upload", body: .multipart(upload)))
    }
}
