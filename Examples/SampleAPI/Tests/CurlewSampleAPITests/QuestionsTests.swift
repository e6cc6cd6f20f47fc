// SPDX-License-Identifier: MIT

import Curlew
import CurlewSampleAPI
import Testing

@Suite(.timeLimit(.minutes(1)))
struct QuestionsTests {
    private let sample: Sample

    init() throws {
        sample = try Sample()
    }

    private static func questions(id: Int? = nil, extra: QueryItems = QueryItems()) -> Request<[Question]> {
        let path: RequestPath = id.map { "/2.2/questions/\($0)" } ?? "/2.2/questions"
        return Request<[Question]>.get(path, query: ["site": "stackoverflow"] + extra).unwrapping("items").options {
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            decoder.dateDecodingStrategy = .secondsSince1970
            $0.codecs = Codecs(decoder: decoder)
        }
    }

    @Test("Questions of a tag come in their wrapper, the best first, without text")
    func list() async throws {
        let questions = try await sample.client.send(
            Self.questions(extra: ["order": "desc", "sort": "votes", "tagged": "swiftui", "pagesize": 2]))
        #expect(questions.map(\.score) == [1289, 841])
        #expect(questions.allSatisfy { $0.tags.contains("swiftui") && $0.body == nil })
        #expect(questions[0].creationDate == Date(timeIntervalSince1970: 1_588_061_700))
    }

    @Test("The order turns round, and pages go on", arguments: [("asc", 1, [73, 198]), ("desc", 3, [198, 73])])
    func order(order: String, page: Int, scores: [Int]) async throws {
        let questions = try await sample.client.send(
            Self.questions(extra: ["order": order, "pagesize": 2, "page": page]))
        #expect(questions.map(\.score) == scores)
    }

    @Test("A filter adds the text")
    func one() async throws {
        let client = sample.client
        let plain = try await client.send(Self.questions(id: 1001))
        let full = try await client.send(Self.questions(id: 1001, extra: ["filter": "withbody"]))
        #expect(plain.map(\.body) == [nil])
        #expect(full.first?.body?.hasPrefix("<p>Both calls") == true)
        #expect(try await client.send(Self.questions(id: 9)).isEmpty)
    }

    @Test("Without a site, the response is 400 with a numbered error")
    func noSite() async throws {
        let error = await #expect(throws: NetworkError.self) { try await sample.client.send(.get("/2.2/questions")) }
        #expect(error?.statusCode == 400)
        #expect(error?.body(as: JSONValue.self)?["error_id"].int == 400)
    }

    @Test("The owner's avatar is a picture on another origin, which no token reaches")
    func avatar() async throws {
        try await sample.tokens.signIn(Tokens(accessToken: "secret"))
        let questions = try await sample.client.response(for: Self.questions(id: 1001))
        let url = try #require(questions.value.first?.owner.profileImage)
        #expect(questions.headers["X-Credentials-Received"] == "bearer")
        #expect(url.hasPrefix(sample.api.assetsURL + "/avatars/"))
        #expect(sample.api.assetsURL != sample.api.url)

        let picture = try await sample.client.response(for: Request<Data>.get(url: url))
        #expect(picture.headers["X-Credentials-Received"] == "none")
        #expect(picture.headers[.contentType] == "image/png")
        #expect(picture.value.starts(with: [0x89, 0x50, 0x4E, 0x47]))
    }
}
