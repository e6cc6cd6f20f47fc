// SPDX-License-Identifier: MIT
// Written against Apple's documentation and type-checked on Linux against stubs (Scripts/apple); not run there.

#if canImport(SwiftUI)
import Curlew
import CurlewUI
import SwiftUI

struct QuestionsView: View {
    @State private var model: QuestionsModel

    init(client: APIClient) {
        _model = State(initialValue: QuestionsModel(client: client))
    }

    var body: some View {
        NavigationStack {
            List {
                LoadableView(model.questions) { questions in
                    ForEach(questions) { question in
                        NavigationLink(value: question) { QuestionRow(question: question) }
                    }
                }
            }
            .navigationTitle("Top questions")
            .navigationDestination(for: Question.self) { QuestionView(model: model.open($0)) }
            .refreshable { await model.questions.refresh() }
        }
    }
}

struct QuestionRow: View {
    let question: Question

    var body: some View {
        HStack(alignment: .top, spacing: 12) {
            Text(question.score.shortened).font(.headline).frame(minWidth: 44)
            VStack(alignment: .leading, spacing: 4) {
                Text(question.plainTitle).font(.headline)
                Text(question.facts).font(.subheadline)
                Text(question.tags.joined(separator: ", ")).font(.footnote).foregroundStyle(.secondary)
            }
        }
        .accessibilityElement(children: .combine)
    }
}

#Preview("Questions") { QuestionsView(client: .preview) }
#Preview("Loading") { QuestionsView(client: .loading) }
#Preview("Offline") { QuestionsView(client: .offline) }
#endif
