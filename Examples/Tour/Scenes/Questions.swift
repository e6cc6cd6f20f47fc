// SPDX-License-Identifier: MIT

import Curlew

struct Question: Decodable {
    struct Owner: Decodable {
        let displayName: String
        let profileImage: String
    }

    let questionId: Int
    let title: String
    let score, viewCount: Int
    let creationDate: Date
    let owner: Owner
    let body: String?
}

extension Request {
    /// Questions, or one question, inside `{"items": …}`. A filter adds the text.
    static func questions(id: Int? = nil, tag: String? = nil, filter: String? = nil) -> Request<[Question]> {
        let path: RequestPath = if let id { "/2.2/questions/\(id)" } else { "/2.2/questions" }
        // Items whose value is nil are left out.
        let query: QueryItems = [
            "site": "stackoverflow", "order": "desc", "sort": "votes", "tagged": tag, "filter": filter,
        ]
        return Request<[Question]>.get(path, query: query).unwrapping("items").options { $0.codecs = .questions }
    }
}

extension Codecs {
    /// A custom decoder, because this service writes snake case with dates in seconds.
    fileprivate static let questions: Codecs = {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        decoder.dateDecodingStrategy = .secondsSince1970
        return Codecs(decoder: decoder)
    }()
}

struct Questions: Scene {
    let title = "Questions"
    let about = "A list inside a wrapper, then one question, then its owner's picture from another origin."

    func run(on stage: Stage) async throws {
        let questions = try await stage.client.send(.questions(tag: "swiftui"))
        for question in questions {
            stage.show("\(question.score) votes", "\(question.title) (\(question.viewCount / 1000)k views)")
        }
        guard let best = questions.first else { return stage.unexpected("no questions") }
        stage.expect(best.score == 1289, "the question with most votes comes first")

        let details = try await stage.client.response(for: .questions(id: best.questionId, filter: "withbody"))
        guard let question = details.value.first else { return stage.unexpected("no such question") }
        stage.show("asked", "\(question.creationDate.formatted(.iso8601)) by \(question.owner.displayName)")
        stage.show("text", question.body ?? "")
        stage.expect(details.headers["X-Credentials-Received"] == "bearer", "the service received the bearer token")

        // An absolute URL on another origin: nothing that belongs to this client's origin goes there.
        let avatar = try await stage.client.response(for: Request<Data>.get(url: question.owner.profileImage))
        stage.show("avatar", "\(avatar.value.count) bytes, \(avatar.headers[.contentType] ?? "")")
        stage.expect(avatar.value.starts(with: [0x89, 0x50, 0x4E, 0x47]), "the avatar is a PNG")
        stage.expect(avatar.headers["X-Credentials-Received"] == "none", "the other origin received no token")
    }
}
