// SPDX-License-Identifier: MIT
// Written against Apple's documentation and type-checked on Linux against stubs (Scripts/apple); not run there.

#if canImport(SwiftUI)
import Curlew
import CurlewUI
import SwiftUI
import TopQuestionsModel

struct QuestionView: View {
    @State var model: QuestionModel
    let client: APIClient

    var body: some View {
        ScrollView {
            VStack(alignment: .leading, spacing: 16) {
                QuestionRow(question: model.summary)
                LoadableView(model.question) { question in
                    VStack(alignment: .leading, spacing: 16) {
                        Text(question.plainBody ?? "")
                        OwnerCard(owner: question.owner, client: client)
                    }
                }
            }
            .padding()
            .frame(maxWidth: .infinity, alignment: .leading)
        }
    }
}

/// Shown when the question is there, so the picture is loaded after it.
struct OwnerCard: View {
    let owner: Question.Owner
    let client: APIClient

    var body: some View {
        HStack(spacing: 12) {
            if let url = owner.profileImage {
                RemoteImage(url: url, client: client).frame(width: 48, height: 48).clipShape(.circle)
            }
            VStack(alignment: .leading) {
                Text(owner.plainName).font(.headline)
                Text(owner.standing).font(.subheadline)
            }
        }
    }
}
#endif
