// SPDX-License-Identifier: MIT

import Curlew

/// What all calls of the service have in common: the response inside `{"items": …}`, snake case, dates in seconds.
protocol Resource: Endpoint where Response == [Question] {
    /// Names the members that the response has beside the usual ones.
    var filter: String? { get }
    /// What this call adds to the query.
    var details: QueryItems { get }
}

extension Resource {
    var filter: String? { nil }
    var details: QueryItems { [:] }
    // Items whose value is nil are omitted.
    var query: QueryItems { ["site": "stackoverflow", "filter": filter] + details }

    var options: RequestOptions {
        var options = RequestOptions()
        options.codecs = .service
        return options
    }

    func decode(_ response: HTTPResponse, using codecs: Codecs) async throws -> [Question] {
        try await response.decoded(as: Items.self, using: codecs).items
    }
}

/// `{"items": […]}`
private struct Items: Decodable {
    let items: [Question]
}

extension APIClient {
    /// A client of the sample service that takes a second and a half for each response: to see how loading looks.
    var slow: APIClient { with(query: ["delay": 1500]) }
}

extension Codecs {
    /// One for all calls: a decoder costs more to make than to use.
    fileprivate static let service: Codecs = {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        decoder.dateDecodingStrategy = .secondsSince1970
        return Codecs(decoder: decoder)
    }()
}

/// The questions with most votes.
struct QuestionList: Resource {
    typealias Response = [Question]

    var tag: String?

    var path: RequestPath { "/2.2/questions" }
    var details: QueryItems { ["order": "desc", "sort": "votes", "tagged": tag, "pagesize": 30] }
}

/// One question with its text: a list of one, or of none if there is no such question.
struct QuestionText: Resource {
    typealias Response = [Question]

    let id: Int

    var path: RequestPath { "/2.2/questions/\(id)" }
    var filter: String? { "withbody" }
}
