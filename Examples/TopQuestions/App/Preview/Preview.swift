// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting
import TopQuestionsModel

extension APIClient {
    /// Responses from `Questions.json`, for previews and tests.
    ///
    /// It lives in the program, not in the model: a mock comes from CurlewTesting, which the program contains anyway,
    /// because its sample server is made of it.
    static var preview: APIClient {
        let questions = Data(PackageResources.Questions_json)
        return .mock {
            $0.on(QuestionList.self) { _ in questions }
            $0.on(QuestionText.self) { _ in questions }
            $0.on(.get, "/alan.png", .status(.notFound))
        }
    }
}
