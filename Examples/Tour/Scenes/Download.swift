// SPDX-License-Identifier: MIT

import Curlew
import Foundation  // for FileHandle

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

        let promised = try await stage.client.withResponse(to: .audioGuide(bytes: 2_000_000)) { response in
            try await write(response.body, to: file, stage)
            return response.headers["X-Checksum-CRC32"]
        }

        let written = try Data(contentsOf: file)
        stage.show("checksum", "\(CRC32(written)), promised \(promised ?? "none")")
        stage.expect(written.count == 2_000_000, "the file has its size")
        stage.expect(promised == "\(CRC32(written))", "the file has the checksum that the head promised")
    }

    private func write(_ body: ResponseBody, to file: URL, _ stage: Stage) async throws {
        _ = FileManager.default.createFile(atPath: file.path, contents: nil)
        let handle = try FileHandle(forWritingTo: file)
        defer { try? handle.close() }

        let total = body.declaredLength ?? 0
        var received: Int64 = 0
        var quarters: Int64 = 0
        // Asking for the next chunk is what makes more of it come: a slow disk slows the transfer down.
        for try await chunk in body {
            try handle.write(contentsOf: chunk)
            received += Int64(chunk.count)
            if total > 0, received * 4 / total > quarters {
                quarters = received * 4 / total
                stage.show("\(quarters * 25) %", "\(received) of \(total) bytes")
            }
        }
    }
}
