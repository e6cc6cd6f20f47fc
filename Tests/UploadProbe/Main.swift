// SPDX-License-Identifier: MIT

import Curlew
import Foundation

/// A program that uploads a file and keeps the descriptor beside it, to be killed and started again.
///
///     UploadProbe <file> <url> <milliseconds>
///
/// Kills itself after that time, if it is not negative. Says the URL of the upload, or what went wrong.
@main
enum Main {
    static func main() async {
        let words = CommandLine.arguments
        guard words.count == 4, let time = Int(words[3]) else { return say("wrong words") }
        let client = APIClient(baseURL: BaseURL(stringLiteral: words[2]))
        if time >= 0 {
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(time)) { kill(getpid(), SIGKILL) }
        }
        do throws(NetworkError) {
            let options = Upload.Options(.tus, storage: .besideSource)
            let result = try await client.upload(.file(words[1]), to: .post("/files"), options: options)
            say("done \(result.url ?? "")")
        } catch {
            say("failed: \(error)")
        }
    }

    static func say(_ text: String) {
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }
}
