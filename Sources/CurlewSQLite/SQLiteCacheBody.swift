// SPDX-License-Identifier: MIT

import CurlewCaching
import CurlewCore
import CurlewFoundation

/// An opened body: bytes in memory, or an open file, which stays readable after its name is removed.
final class SQLiteCacheBody: HTTPCache.Entry.Body {
    let length: Int64
    let bytes: Data?

    private let file: Locked<BodyFile?>
    private let queue: DatabaseQueue?

    /// The maximum number of bytes that one read of a file returns.
    static let maximumRead = 1 << 20

    init(_ bytes: Data) {
        length = Int64(bytes.count)
        self.bytes = bytes
        file = Locked(nil)
        queue = nil
    }

    init(_ file: BodyFile, length: Int64, queue: DatabaseQueue) {
        self.length = length
        bytes = nil
        self.file = Locked(file)
        self.queue = queue
    }

    func read(from offset: Int64, upTo count: Int) async throws -> Data {
        guard offset >= 0, offset < length else { return Data() }
        let count = Int(min(Int64(min(max(0, count), Self.maximumRead)), length - offset))
        if let bytes {
            let start = bytes.startIndex + Int(offset)
            return bytes[start..<start + count]
        }
        guard let file = file.withLock({ $0 }), let queue else {
            throw NetworkError(.storage, detail: "The cached body has been closed.")
        }
        return try await queue.withFiles { try file.read(from: offset, upTo: count) }
    }

    func close() {
        file.withLock { $0 = nil }
    }
}
