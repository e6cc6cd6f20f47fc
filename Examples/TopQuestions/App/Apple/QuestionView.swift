// SPDX-License-Identifier: MIT
// Written against Apple's documentation and type-checked on Linux against stubs (Scripts/apple); not run there.

#if canImport(SwiftUI)
import Curlew
import CurlewUI
import SwiftUI
import TopQuestionsModel

struct QuestionView: View {
    @State var model: QuestionModel

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
#endif
