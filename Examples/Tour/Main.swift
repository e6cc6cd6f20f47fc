// SPDX-License-Identifier: MIT

import Curlew
import CurlewSampleAPI
import ExampleSupport

/// Starts the sample service in this process and walks through what a client does with it. `--har FILE` writes what the
/// last scene has recorded.
@main
@MainActor
struct Main {
    static func main() async {
        await Report.run { report, api in await walk(through: api, report) }
    }

    private static func walk(through api: SampleAPI, _ report: Report) async {
        // One client for the whole walk. The token store is empty until a user signs in.
        let tokens = TokenStore()
        let client = APIClient(
            baseURL: "\(api.url)",
            pipeline: .standard
                .adding(.bearer(tokens) { try await $0.client.send(.renewal(of: $0.tokens.refreshToken)) })
                .adding(CallPrinter(home: api.url)),
            configuration: APIClient.Configuration(timeouts: Timeouts(total: .seconds(20))))
        let stage = Stage(url: api.url, client: client, tokens: tokens, report: report)
        report.opening(
            "A tour of Curlew", "a real client, real sockets, and a service on loopback",
            "service \(api.url), pictures \(api.assetsURL), engine \(client.transport)")

        let arguments = CommandLine.arguments
        let recording = arguments.count == 3 && arguments[1] == "--har" ? arguments[2] : nil
        let scenes: [any Scene] = [
            SignIn(), Films(), FilmErrors(), InlineRequests(), Questions(), Dashboard(), Completions(), Hooks(), Team(),
            Upload(), Download(), Recording(file: recording),
        ]
        for (index, scene) in scenes.enumerated() {
            report.title("\(index + 1). \(scene.title)", scene.about)
            do {
                try await scene.run(on: stage)
            } catch {
                report.fail("\(error)")
            }
        }
    }
}
