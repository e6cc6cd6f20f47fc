// SPDX-License-Identifier: MIT

import Curlew
import CurlewSampleAPI

/// `curlew serve`: runs the sample API until it is interrupted.
struct ServeCommand {
    let arguments: ParsedArguments
    let io: CommandIO

    func run() async throws -> ExitCode {
        let console = Console(arguments, io)
        let port = try arguments.number(.port, in: 0...65_535) ?? 0
        let api: SampleAPI
        do { api = try SampleAPI(port: port) } catch {
            throw NetworkError(
                .storage, detail: "The server cannot be started: \(error)", hint: "Choose another --port, or none.")
        }
        defer { api.stop() }
        try console.write("\(api.url)\n")
        console.advise("The sample API listens. Try `curlew \(api.url)/products limit==2`. Ctrl-C ends it.")
        // Cancelling the task ends the wait.
        do { while true { try await Task.sleep(for: .seconds(3600)) } } catch { return .interrupted }
    }
}
