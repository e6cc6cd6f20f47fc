// SPDX-License-Identifier: MIT
// Written against Apple's documentation and type-checked on Linux against stubs (Scripts/apple); not run there.

#if canImport(SwiftUI)
import Curlew
import CurlewSampleAPI
import SwiftUI
import TopQuestionsModel

@main
struct TopQuestionsApp: App {
    /// The embedded server, for as long as the app runs; nil with `--live`, or if the system has no socket left.
    private let service = CommandLine.arguments.contains("--live") ? nil : try? SampleAPI()

    var body: some Scene {
        WindowGroup {
            QuestionsView(client: APIClient(baseURL: service.map { BaseURL(stringLiteral: $0.url) } ?? .live))
        }
    }
}

extension BaseURL {
    /// The public service.
    fileprivate static let live: BaseURL = "https://api.stackexchange.com"
}
#endif
