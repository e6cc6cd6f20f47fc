// SPDX-License-Identifier: MIT

#if !canImport(SwiftUI)
import Curlew

/// The same without a terminal: prints the list, and the first question with who asked it.
@MainActor
struct PlainOutput {
    private static let page = Size(columns: 80, rows: 0)

    let model: QuestionsModel

    /// Throws what went wrong.
    func run() async throws {
        await model.questions.load()
        let questions = try result(model.questions.value, model.questions.error)
        show(.list(questions, selected: -1))
        guard let first = questions.first else { return }
        let opened = model.open(first)
        await opened.avatar.load()
        let question = try result(opened.question.value, opened.question.error)
        // A picture that does not come is no reason to keep back the text.
        print()
        show(.question(question, Screen.Portrait(opened.avatar)))
    }

    private func result<Value>(_ value: Value?, _ error: NetworkError?) throws -> Value {
        if let value { return value }
        throw error ?? NetworkError(.cancelled)
    }

    private func show(_ content: Screen.Content) {
        for line in content.lines(in: Self.page).lines { print(line.fitted(to: Self.page.columns).text) }
    }
}
#endif
