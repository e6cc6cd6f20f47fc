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

/// Reads the parts of a body in sequence: bytes as one chunk, ranges of files in chunks of at most 64 KiB.
final class PartsReader {
    private static let chunk = 64 << 10
    private var parts: ArraySlice<RequestBody.Part>
    private var open: (handle: FileHandle, path: String, left: Int64)?

    init(_ parts: [RequestBody.Part]) {
        self.parts = parts[...]
    }

    /// Returns the next chunk, or nil at the end of the last part.
    func next() throws -> Data? {
        while true {
            if let file = open {
                guard file.left > 0 else {
                    open = nil
                    continue
                }
                let count = Int(min(Int64(Self.chunk), file.left))
                guard let data = try file.handle.read(upToCount: count), !data.isEmpty else {
                    throw NetworkError(.encoding, detail: "The file \(file.path) became shorter while it was sent.")
                }
                open?.left -= Int64(data.count)
                return data
            }
            switch parts.popFirst() {
            case nil: return nil
            case .bytes(let data)?: if !data.isEmpty { return data }
            case .file(let path, let offset, let length)?:
                let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
                try handle.seek(toOffset: UInt64(offset))
                open = (handle, path, length)
            }
        }
    }
}
