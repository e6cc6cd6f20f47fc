// SPDX-License-Identifier: MIT

#if !canImport(SwiftUI)
import Curlew
import CurlewSampleAPI

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The app on systems without SwiftUI: a reader in the terminal.
@main
@MainActor
struct Main {
    static func main() async {
        guard let options = Options(CommandLine.arguments.dropFirst()) else {
            complain(Options.usage)
            exit(2)
        }
        if options.wantsHelp { return print(Options.usage) }
        do {
            exit(try await run(options))
        } catch {
            complain("TopQuestions: \(error)")
            exit(1)
        }
    }

    private static func run(_ options: Options) async throws -> Int32 {
        let service = options.isLive ? nil : try SampleAPI()
        defer { service?.stop() }
        let outage = service.map { _ in Outage() }
        let place = service?.url ?? "https://api.stackexchange.com"
        var pipeline = Pipeline.standard
        if let outage { pipeline = pipeline.adding(outage, at: .logging) }
        let plain = APIClient(
            baseURL: try BaseURL(place), pipeline: pipeline,
            configuration: APIClient.Configuration(timeouts: Timeouts(total: .seconds(30))))
        let client = options.isSlow ? plain.slow : plain

        let environment = ProcessInfo.processInfo.environment
        guard Terminal.isPresent(environment: environment), let terminal = Terminal() else {
            try await PlainOutput(model: QuestionsModel(tag: options.tag, client: client)).run()
            return 0
        }
        defer { terminal.restore() }
        let reader = Reader(client: client, tag: options.tag, place: place, outage: outage)
        return await Session(reader, terminal, Painter(environment: environment)).run()
    }

    private static func complain(_ text: String) {
        Terminal.send(text + "\n", to: STDERR_FILENO)
    }
}
#endif
