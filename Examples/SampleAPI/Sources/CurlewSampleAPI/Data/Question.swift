// SPDX-License-Identifier: MIT

/// A question on a question-and-answer site. Encoded in snake case.
struct Question: Encodable, Sendable {
    /// The user who asked the question.
    struct Owner: Encodable, Sendable {
        let displayName: String
        let reputation: Int
        /// The path of the picture on the origin that serves the pictures. ``shown(with:body:)`` converts it to a URL.
        var profileImage: String
    }

    let questionId: Int
    let title: String
    let score, answerCount, viewCount: Int
    /// The time at which the question was asked, in seconds since 1970.
    let creationDate: Int
    let tags: [String]
    var owner: Owner
    var body: String?

    /// Returns the question with the URL of its owner's picture, and without its text unless `body` is true.
    func shown(with assetsURL: String, body isShown: Bool) -> Question {
        var copy = self
        copy.owner.profileImage = assetsURL + owner.profileImage
        if !isShown { copy.body = nil }
        return copy
    }

    private init(
        _ id: Int, _ title: String, score: Int, answers: Int, views: Int, created: Int, tags: [String],
        by owner: String, reputation: Int, _ body: String
    ) {
        questionId = id
        self.title = title
        self.score = score
        answerCount = answers
        viewCount = views
        creationDate = created
        self.tags = tags
        let picture = owner.lowercased().split(separator: " ").joined(separator: "-")
        self.owner = Owner(displayName: owner, reputation: reputation, profileImage: "/avatars/\(picture).png")
        self.body = "<p>\(body)</p>"
    }

    static let all = [
        Question(
            1001, "How do I run two requests at the same time and wait for both?", score: 412, answers: 6,
            views: 180_412, created: 1_624_354_200, tags: ["swift", "concurrency"], by: "Grace Hopper",
            reputation: 48_210, "Both calls are independent of each other. <code>async let</code> looks right, but …"),
        Question(
            1002, "When does a SwiftUI view ask for its data again?", score: 1289, answers: 11, views: 702_938,
            created: 1_588_061_700, tags: ["swift", "swiftui"], by: "Ada Lovelace", reputation: 91_004,
            "My list loads twice when I come back to it. I expected <code>task</code> to run once …"),
        Question(
            1003, "Show a placeholder while an image loads", score: 356, answers: 8, views: 221_077,
            created: 1_602_925_980, tags: ["swiftui", "image"], by: "Alan Kay", reputation: 7720,
            "The avatar of each row comes from another server. Until it is there I would like …"),
        Question(
            1004, "Why does my decoder not find a key that is in the JSON?", score: 73, answers: 3, views: 40_112,
            created: 1_650_443_160, tags: ["swift", "json", "codable"], by: "Barbara Liskov", reputation: 15_233,
            "The body has <code>created_at</code>, and my model has <code>createdAt</code> …"),
        Question(
            1005, "Cancel a request when the view goes away", score: 841, answers: 5, views: 310_555,
            created: 1_631_710_020, tags: ["swiftui", "concurrency"], by: "Tony Hoare", reputation: 33_871,
            "The user leaves the screen before the answer is there, and then an error appears …"),
        Question(
            1006, "Is it safe to send a POST twice?", score: 198, answers: 9, views: 95_820, created: 1_571_132_640,
            tags: ["http", "rest"], by: "Radia Perlman", reputation: 20_518,
            "The connection broke before the answer came. I do not know whether the order arrived …"),
    ]
}
