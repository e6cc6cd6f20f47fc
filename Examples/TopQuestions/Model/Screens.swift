// SPDX-License-Identifier: MIT

import Curlew
import CurlewUI

/// What the first screen shows: a list of questions.
@MainActor
final class QuestionsModel {
    let questions: Loadable<[Question]>
    let tag: String?
    private let client: APIClient

    init(tag: String? = nil, client: APIClient) {
        self.tag = tag
        self.client = client
        questions = Loadable(QuestionList(tag: tag), from: client)
    }

    /// The screen of one of them.
    func open(_ question: Question) -> QuestionModel {
        QuestionModel(question, client: client)
    }
}

/// What the second screen shows: a question with its text, and then the picture of who asked.
@MainActor
final class QuestionModel {
    /// The question as the list has it: something to show until its text is there.
    let summary: Question
    let question: Loadable<Question>
    /// Loads the question first, which contains the URL of the picture. Empty if the user has no picture.
    let avatar: Loadable<Data>

    init(_ summary: Question, client: APIClient) {
        self.summary = summary
        question = Loadable {
            let found = try await client.send(QuestionText(id: summary.id))
            // Nothing found is an empty list to this service. To its readers it is the same as anywhere.
            guard let question = found.first(where: { $0.id == summary.id }) else {
                throw NetworkError(statusCode: 404)
            }
            return question
        }
        avatar = question.then { question in
            guard let url = question.owner.profileImage else { return Data() }
            // On another origin: the client sends nothing there that belongs to its own.
            return try await client.send(Request<Data>.get(url: url))
        }
    }
}
