// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting

extension APIClient {
    /// Responds with two questions, for previews and tests. Only one of their authors has a picture, which is not found.
    static var preview: APIClient {
        .mock {
            $0.on(QuestionList.self) { _ in Data.previewQuestions }
            $0.on(QuestionText.self) { _ in Data.previewQuestions }
            $0.on(.get, "/alan.png", .status(.notFound))
        }
    }

    /// Responds to nothing within the time of a preview.
    static var loading: APIClient {
        .mock { $0.onAny(delay: .seconds(3600)) { _ in .status(.noContent) } }
    }

    /// Fails as a device without a network does.
    static var offline: APIClient {
        .mock { $0.onAny { _ in throw NetworkError(.unreachable) } }
    }
}

extension Data {
    /// Two questions as the service sends them.
    static let previewQuestions = Data(
        #"""
        {
          "items": [
            {
              "question_id": 2001, "title": "What is the difference between <code>let</code> &amp; <code>var</code>?",
              "score": 1234, "answer_count": 12, "view_count": 3400000, "creation_date": 1402315200,
              "tags": ["swift", "variables"],
              "owner": {
                "display_name": "Alan Turing", "reputation": 91004, "profile_image": "https://pictures.example/alan.png"
              },
              "body": "<p>Both name a value.</p>\n<pre><code>let one = 1\nvar two = 2\n</code></pre>\n<p>When is &lt;which&gt; right?</p>"
            },
            {
              "question_id": 2002, "title": "配列を並べ替えるには？", "score": 99, "answer_count": 1, "view_count": 950,
              "creation_date": 1588061700, "tags": ["swift", "sorting"], "owner": {},
              "body": "<p>数の配列があります。</p>"
            }
          ],
          "has_more": false, "quota_max": 300, "quota_remaining": 299
        }
        """#.utf8)
}
