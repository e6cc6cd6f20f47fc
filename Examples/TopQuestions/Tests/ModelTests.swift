// SPDX-License-Identifier: MIT

import Curlew
import CurlewSampleAPI
import CurlewTesting
import Testing

@testable import TopQuestions

@Suite("Questions", .timeLimit(.minutes(1)))
@MainActor
struct ModelTests {
    @Test("questions decode from canned JSON")
    func decoding() async throws {
        let questions = try await APIClient.preview.send(QuestionList(tag: "swift"))
        let first = try #require(questions.first)
        #expect(questions.map(\.id) == [2001, 2002])
        #expect(first.plainTitle == "What is the difference between let & var?")
        #expect(first.day == "2014-06-09")
        #expect(first.facts == "12 answers · 3.4M views · 2014-06-09")
        #expect(first.owner.plainName == "Alan Turing" && first.owner.standing == "91k reputation")
        #expect(first.plainBody == "Both name a value.\n\nlet one = 1\nvar two = 2\n\nWhen is <which> right?")
        #expect(questions[1].owner.plainName == "deleted user" && questions[1].owner.standing == "")
    }

    @Test("the calls are what the service documents")
    func calls() throws {
        let client = APIClient.preview
        #expect(
            try client.request(for: QuestionList(tag: "swift ui")).target
                == "/2.2/questions?site=stackoverflow&order=desc&sort=votes&tagged=swift%20ui&pagesize=30")
        #expect(
            try client.request(for: QuestionText(id: 7)).target
                == "/2.2/questions/7?site=stackoverflow&filter=withbody")
    }

    @Test(
        "large numbers are shortened",
        arguments: [
            (0, "0"), (999, "999"), (1000, "1k"), (1049, "1k"), (1050, "1.1k"), (1234, "1.2k"), (9949, "9.9k"),
            (9950, "10k"), (12_345, "12k"), (999_499, "999k"), (999_500, "1M"), (3_400_000, "3.4M"), (-1234, "-1.2k"),
            (.max, "9223372036855M"), (.min, "-9223372036855M"),
        ])
    func thousands(number: Int, text: String) {
        #expect(number.shortened == text)
    }

    @Test("the picture comes after its question, from another origin, which gets no token")
    func sequence() async throws {
        let list = try await APIClient.preview.send(QuestionList())
        let client = APIClient.mock(baseURL: "https://api.example", pipeline: [.bearer { "secret" }]) {
            $0.on(QuestionText.self) { _ in Data.previewQuestions }
            $0.on(.get, "/alan.png", .data(Data("picture".utf8)))
        }
        let model = QuestionModel(list[0], client: client)
        await model.avatar.load()
        #expect(model.question.value?.plainBody?.hasPrefix("Both name") == true)
        #expect(model.avatar.value == Data("picture".utf8))
        let calls = client.recordedCalls
        #expect(calls.map { "\($0.request.origin)" } == ["https://api.example", "https://pictures.example"])
        #expect(calls.map { $0.request.headers[.authorization] } == ["Bearer secret", nil])
    }

    @Test("who has no picture causes no call for one, and who is not found is not found")
    func ends() async throws {
        let list = try await APIClient.preview.send(QuestionList())
        let model = QuestionModel(list[1], client: .preview)
        await model.avatar.load()
        #expect(model.avatar.value == Data())

        let empty = APIClient.mock { $0.on(QuestionText.self) { _ in #"{"items": []}"# } }
        let missing = QuestionModel(list[0], client: empty)
        await missing.avatar.load()
        #expect(missing.avatar.error?.isNotFound == true)
        #expect(missing.question.error?.isNotFound == true)
    }

    @Test("a cancelled load shows no error")
    func cancelled() async throws {
        let clock = ManualClock()
        let client = APIClient.mock(configuration: APIClient.Configuration(time: clock)) {
            $0.on(QuestionList.self, delay: .seconds(60)) { _ in #"{"items": []}"# }
        }
        let model = QuestionsModel(client: client)
        let load = Task { await model.questions.load() }
        try await clock.waitForSleepers(1)
        #expect(model.questions.isLoading)
        load.cancel()
        await load.value
        #expect(model.questions.error == nil)
        #expect(!model.questions.isLoading && model.questions.value == nil)
    }

    @Test("a 503 shows as an error, and a retry mends it")
    func unavailable() async throws {
        let client = APIClient.mock {
            $0.on(QuestionList.self) { _ in Data.previewQuestions }
            $0.fail(QuestionList.self, .once, with: NetworkError(statusCode: 503))
        }
        let model = QuestionsModel(client: client)
        await model.questions.load()
        #expect(model.questions.error?.isServerError == true)
        #expect(model.questions.error?.message == "The service is not available right now.")
        await model.questions.retry()
        #expect(model.questions.error == nil)
        #expect(model.questions.value?.count == 2)
    }

    @Test("the embedded server speaks the same language, with its own pictures")
    func server() async throws {
        let service = try SampleAPI()
        defer { service.stop() }
        let model = QuestionsModel(client: APIClient(baseURL: try BaseURL(service.url)))
        await model.questions.load()
        let first = try #require(model.questions.value?.first)
        #expect(first.score.shortened == "1.3k")
        #expect(first.plainBody == nil, "the list comes without texts")
        let opened = model.open(first)
        await opened.avatar.load()
        #expect(opened.question.value?.plainBody?.hasPrefix("My list loads twice") == true)
        #expect(opened.avatar.value?.starts(with: [0x89, 0x50, 0x4E, 0x47]) == true)
    }
}

@Suite("Markup", .timeLimit(.minutes(1)))
struct MarkupTests {
    @Test(
        "HTML is reduced to what people read",
        arguments: [
            ("plain text", "plain text"),
            ("<p>One\n  line.</p>\n\n<p>Another</p>", "One line.\n\nAnother"),
            ("a<br>b<br/>c", "a\nb\nc"),
            ("<ul>\n<li>one</li>\n<li>two</li>\n</ul>after", "• one\n• two\n\nafter"),
            ("<pre><code>if x {\n    y()\n}\n</code></pre><p>end", "if x {\n    y()\n}\n\nend"),
            ("&lt;b&gt; &amp;amp; &#39;x&#x27; &hellip;", "<b> &amp; 'x' …"),
            ("1 &lt; 2 and 5 < 6", "1 < 2 and 5 < 6"),
            ("a &unknown; &; &#xFFFFFFFF; &amp", "a &unknown; &; &#xFFFFFFFF; &amp"),
            ("<!-- no --><a href=\"x\">link</a>", "link"),
            ("", ""),
        ])
    func reduced(html: String, text: String) {
        #expect(html.withoutMarkup == text)
    }

    @Test("what is no tag, as often as it may come, costs one look each")
    func long() {
        let text = String(repeating: "<", count: 200_000)
        #expect(text.withoutMarkup == text)
    }
}
