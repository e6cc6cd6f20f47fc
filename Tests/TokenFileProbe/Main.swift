// SPDX-License-Identifier: MIT

import Curlew
import Foundation

/// A command line that is signed in by a file, to be run beside others on the same file, and to be killed.
///
///     TokenFileProbe <file> <url> <name> <calls> <milliseconds>
///
/// Says "ready" when it has loaded the tokens, waits for the end of its input, and makes that many calls for `/me` at
/// once. Says "fine", or what went wrong. Kills itself after that time, if it is not negative.
@main
enum Main {
    static func main() async {
        let words = CommandLine.arguments
        guard words.count == 6, let calls = Int(words[4]), let time = Int(words[5]) else { return say("wrong words") }
        let store = TokenStore(.file(words[1]))
        let client = APIClient(
            baseURL: BaseURL(stringLiteral: words[2]),
            pipeline: [
                .bearer(store) { refresh in
                    try await refresh.client.send(
                        Request<Tokens>.post("/refresh").header("X-Refresh", refresh.tokens.refreshToken ?? "")
                            .header("X-Process", words[3]))
                }
            ])
        guard let tokens = try? await store.tokens else { return say("no tokens") }
        say("ready \(tokens.accessToken)")
        _ = FileHandle.standardInput.readDataToEndOfFile()
        if time >= 0 {
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(time)) { kill(getpid(), SIGKILL) }
        }
        let wrong = await withTaskGroup(of: NetworkError?.self) { group in
            for _ in 0..<calls {
                group.addTask {
                    do throws(NetworkError) {
                        try await client.send(Request<Void>.get("/me"))
                        return nil
                    } catch { return error }
                }
            }
            var errors: [NetworkError] = []
            for await error in group where error != nil { errors += [error].compactMap { $0 } }
            return errors
        }
        say(wrong.first.map { "\(wrong.count) calls failed: \($0)" } ?? "fine")
    }

    static func say(_ text: String) {
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }
}
