// SPDX-License-Identifier: MIT
// Written against Apple's documentation and type-checked on Linux against stubs (Scripts/apple); not run there.

#if canImport(SwiftUI)
import Curlew
import CurlewUI
import SwiftUI

struct QuestionView: View {
    @State private var model: QuestionModel

    init(model: QuestionModel) {
        _model = State(initialValue: model)
    }

    var body: some View {
        ScrollView {
            VStack(alignment: .leading, spacing: 16) {
                QuestionRow(question: model.summary)
                LoadableView(model.question) { question in
                    VStack(alignment: .leading, spacing: 16) {
                        Text(question.plainBody ?? "")
                        OwnerCard(owner: question.owner, avatar: model.avatar)
                    }
                }
            }
            .padding()
            .frame(maxWidth: .infinity, alignment: .leading)
        }
        .refreshable { await model.question.refresh() }
    }
}

/// The picture is the model's, which loads it after the question.
struct OwnerCard: View {
    let owner: Question.Owner
    let avatar: Loadable<Data>

    var body: some View {
        HStack(spacing: 12) {
            if owner.profileImage != nil {
                RemoteImage(avatar).frame(width: 48, height: 48).clipShape(.circle)
            }
            VStack(alignment: .leading) {
                Text(owner.plainName).font(.headline)
                Text(owner.standing).font(.subheadline)
            }
        }
    }
}

/// The list's row is all that a question's screen needs to begin with.
private struct QuestionPreview: View {
    let client: APIClient
    @State private var first: Question?

    var body: some View {
        ZStack {
            if let first { QuestionView(model: QuestionModel(first, client: client)) }
        }
        .task { first = try? await APIClient.preview.send(QuestionList()).first }
    }
}

#Preview("Question") { QuestionPreview(client: .preview) }
#Preview("Loading") { QuestionPreview(client: .loading) }
#Preview("Offline") { QuestionPreview(client: .offline) }
#endif
