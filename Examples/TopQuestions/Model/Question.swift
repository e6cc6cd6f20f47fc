// SPDX-License-Identifier: MIT

import Curlew

/// A question. The list has it without its text, the question's own call with it.
struct Question: Decodable, Identifiable, Hashable, Sendable {
    let questionId: Int
    let score, answerCount, viewCount: Int
    let creationDate: Date
    let tags: [String]
    let owner: Owner
    private let title: String
    private let body: String?

    var id: Int { questionId }
    /// The service writes HTML, in titles too.
    var plainTitle: String { title.withoutMarkup }
    /// The text for people; nil where the service was not asked for it.
    var plainBody: String? { body?.withoutMarkup }
    /// The day, as 2020-04-28.
    var day: String { creationDate.formatted(.iso8601.year().month().day()) }
    /// `11 answers · 703k views · 2020-04-28`
    var facts: String { "\(answerCount.of("answer")) · \(viewCount.of("view")) · \(day)" }

    /// The author of the question. A deleted user has at most a name.
    struct Owner: Decodable, Hashable, Sendable {
        let reputation: Int?
        let profileImage: String?
        private let displayName: String?

        var plainName: String { displayName?.withoutMarkup ?? "deleted user" }
        /// `91k reputation`
        var standing: String { reputation.map { "\($0.shortened) reputation" } ?? "" }
    }
}

extension Int {
    /// As people read it: 999, 1.2k, 12k, 3.4M.
    var shortened: String {
        // From 999.5k on, thousands would be rounded to a number of four digits.
        switch magnitude {
        case 999_500...: shortened(to: 1_000_000, "M")
        case 1000...: shortened(to: 1000, "k")
        default: String(self)
        }
    }

    /// `1 vote`, `1.2k votes`
    func of(_ thing: String) -> String {
        self == 1 ? "1 \(thing)" : "\(shortened) \(thing)s"
    }

    private func shortened(to unit: UInt, _ letter: String) -> String {
        let sign = self < 0 ? "-" : ""
        let tenths = (magnitude + unit / 20) / (unit / 10)
        if tenths >= 100 { return "\(sign)\((magnitude + unit / 2) / unit)\(letter)" }
        return tenths % 10 == 0 ? "\(sign)\(tenths / 10)\(letter)" : "\(sign)\(tenths / 10).\(tenths % 10)\(letter)"
    }
}
