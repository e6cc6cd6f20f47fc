// SPDX-License-Identifier: MIT

import Curlew
import Foundation

/// A program that uploads or downloads a file and can continue it, to be killed and started again.
///
///     TransferProbe upload|download <file> <url> <milliseconds>
///
/// Kills itself after that time, if it is not negative. Says the URL of the upload, how many bytes an earlier process had
/// left, or what went wrong.
@main
enum Main {
    static func main() async {
        let words = CommandLine.arguments
        guard words.count == 5, let time = Int(words[4]) else { return say("wrong words") }
        let client = APIClient(baseURL: BaseURL(stringLiteral: words[3]))
        if time >= 0 {
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(time)) { kill(getpid(), SIGKILL) }
        }
        do throws(NetworkError) {
            if words[1] == "upload" {
                var options = Upload.Options(.tus, storage: .besideSource)
                // Cuts should cost a test no second each.
                options.maximumWait = .milliseconds(20)
                let result = try await client.upload(.file(words[2]), to: .post("/files"), options: options)
                say("done \(result.url ?? "")")
            } else {
                let saved = try await client.download(Request<Data>.get(url: words[3]), to: words[2])
                say("done \(saved.value.resumedByteCount)")
            }
        } catch {
            say("failed: \(error)")
        }
    }

    static func say(_ text: String) {
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }
}
