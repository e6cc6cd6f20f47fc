// SPDX-License-Identifier: MIT
// Written against Apple's documentation and type-checked on Linux against stubs (Scripts/apple); not run there.

#if canImport(SwiftUI)
import Curlew
import CurlewSampleAPI
import SwiftUI

@main
struct TopQuestionsApp: App {
    /// The embedded server, for as long as the app runs; nil with `--live`, or if the system has no socket left. With
    /// `--slow` it takes its time, to see how loading looks.
    private let service: SampleAPI?
    private let client: APIClient

    init() {
        service = CommandLine.arguments.contains("--live") ? nil : try? SampleAPI()
        let plain = APIClient(baseURL: service.map { $0.baseURL } ?? .live)
        client = service != nil && CommandLine.arguments.contains("--slow") ? plain.slow : plain
    }

    var body: some Scene {
        WindowGroup {
            QuestionsView(client: client)
        }
    }
}

extension BaseURL {
    /// The public service.
    fileprivate static let live: BaseURL = "https://api.stackexchange.com"
}
#endif
