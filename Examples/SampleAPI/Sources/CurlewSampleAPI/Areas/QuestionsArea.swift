// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting

/// The routes for questions and their owners. Every response contains a list: `{"items": …}`. The text of a question is
/// included only if the request has a `filter`.
struct QuestionsArea {
    let assetsURL: String

    func add(to routes: inout SampleRoutes) {
        routes.on(.get, "/2.2/questions", list)
        routes.on(.get, "/2.2/questions/:id", one)
    }

    private func list(_ request: RecordedRequest) throws -> MockResponse {
        try checkSite(request)
        let size = try request.number("pagesize", from: 1...100, orElse: 30)
        let page = try request.number("page", from: 1...1000, orElse: 1)
        let tag = request.query["tagged"]
        let found = Question.all.filter { question in tag.map(question.tags.contains) ?? true }
        let sorted = found.sorted { left, right in
            let isFirst =
                request.query["sort"] == "creation"
                ? left.creationDate > right.creationDate : left.score > right.score
            return request.query["order"] == "asc" ? !isFirst : isFirst
        }
        let shown = sorted.dropFirst((page - 1) * size).prefix(size)
        return try response(Array(shown), hasMore: sorted.count > page * size, request)
    }

    private func one(_ request: RecordedRequest) throws -> MockResponse {
        try checkSite(request)
        // APIs of this style respond with an empty list, not with a 404, if there is no such question.
        return try response(Question.all.filter { $0.questionId == request.id() }, hasMore: false, request)
    }

    private func response(_ questions: [Question], hasMore: Bool, _ request: RecordedRequest) throws -> MockResponse {
        let withText = request.query["filter"] != nil
        let items = questions.map { $0.shown(with: assetsURL, body: withText) }
        return try .snakeCaseJSON(Page(items: items, hasMore: hasMore, quotaMax: 300, quotaRemaining: 299))
    }

    private func checkSite(_ request: RecordedRequest) throws {
        guard request.query["site"] == nil else { return }
        let failure = Failure(errorId: 400, errorName: "bad_parameter", errorMessage: "site is required")
        throw Refusal(response: try .snakeCaseJSON(failure, status: .badRequest))
    }

    private struct Failure: Encodable {
        let errorId: Int
        let errorName, errorMessage: String
    }

    private struct Page: Encodable {
        let items: [Question]
        let hasMore: Bool
        let quotaMax, quotaRemaining: Int
    }
}
