// SPDX-License-Identifier: MIT

import CurlewCore
import Foundation

/// A temporary file for a request body that URLSession must read from a file. It is removed with the last reference.
final class SpoolFile: Sendable {
    let path: String
    private let handle: Locked<FileHandle>

    init() throws {
        let name = "curlew-\(UUID().uuidString).body"
        path = FileManager.default.temporaryDirectory.appendingPathComponent(name).path
        // Only the owner can read the file, because bodies often contain passwords.
        try? PrivateFile.create(path)
        guard let handle = FileHandle(forWritingAtPath: path) else {
            throw NetworkError(
                .storage, detail: "The file for the body could not be created: \(path).",
                hint: "A streamed body is written to a file before URLSession sends it.")
        }
        self.handle = Locked(handle)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    func append(_ data: Data) throws {
        do {
            try handle.withLock { try $0.write(contentsOf: data) }
        } catch {
            throw NetworkError(.storage, detail: "The body could not be written to a file: \(error)", underlying: error)
        }
    }
}
