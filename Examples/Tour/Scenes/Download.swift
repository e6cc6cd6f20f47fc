// SPDX-License-Identifier: MIT

import Curlew
import Foundation  // for FileManager

extension Request {
    fileprivate static func audioGuide(bytes: Int) -> Request<Data> {
        .get("/files/audio-guide.bin", query: ["bytes": bytes])
    }
}

struct Download: Scene {
    let title = "Download"
    let about = "Written to disk while it arrives, with progress. Nothing holds the whole file."

    func run(on stage: Stage) async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "tour-\(UUID().uuidString).bin")
        defer { try? FileManager.default.removeItem(at: file) }

        let (steps, step) = AsyncStream.makeStream(of: String.self)
        let answer = try await stage.client.download(.audioGuide(bytes: 2_000_000), to: file) { value in
            // On the thread that writes, so it only takes note.
            step.yield("\(value)")
            if value.isLast { step.finish() }
        }
        var heard: [String] = []
        for await text in steps { heard.append(text) }
        stage.show("progress", heard.joined(separator: "; "))
        let promised = answer.headers["X-Checksum-CRC32"]

        let written = try Data(contentsOf: file)
        stage.show("checksum", "\(CRC32(written)), promised \(promised ?? "none")")
        stage.expect(answer.value.byteCount == 2_000_000 && written.count == 2_000_000, "the file has its size")
        stage.expect(promised == "\(CRC32(written))", "the file has the checksum that the head promised")
    }
}
