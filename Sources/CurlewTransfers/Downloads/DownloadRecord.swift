// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation

/// The content of a partial file, as stored beside it: the file, its version, and the number of bytes written.
///
/// The first 4,096 bytes of the record are a JSON object, padded with spaces. They are written once for each version of
/// the file. The position follows as eight bytes, which are replaced while the file grows.
struct DownloadRecord: Equatable, Codable, Sendable {
    static let headLength = 4096
    private static let format = "curlew-download-3"

    private let kind: String
    /// The digest of what is downloaded: the method and URL, or `FileDownload.Options.resumeKey`.
    let key: String
    let file: Representation
    /// The number of the partial file in its file system: a record is not one of another file with the same name.
    let inode: UInt64
    let name: String?
    /// The number of bytes of the complete file.
    let length: Int64
    /// The first byte that is not written yet.
    var position: Int64 = 0

    private enum CodingKeys: CodingKey {
        case kind, key, file, inode, name, length
    }

    /// Returns nil for a version that cannot be continued.
    init?(key: String, file: Representation, inode: UInt64, name: String?) {
        guard file.condition != nil, let length = file.length else { return nil }
        kind = Self.format
        self.key = key
        self.file = file
        self.inode = inode
        self.name = name
        self.length = length
    }

    static func bytes(of position: Int64) -> Data {
        Data((0..<8).map { UInt8(truncatingIfNeeded: position >> (8 * $0)) })
    }

    /// The bytes of the record; nil if the head does not fit, for example because of a very long entity tag.
    var bytes: Data? {
        guard let head = try? JSONEncoder().encode(self), head.count < Self.headLength else { return nil }
        let padding = Data(repeating: UInt8(ascii: " "), count: Self.headLength - head.count)
        return head + padding + Self.bytes(of: position)
    }

    /// Reads a record. Returns nil unless it is complete and consistent.
    init?(_ data: Data) {
        guard data.count == Self.headLength + 8,
            var record = try? JSONDecoder().decode(DownloadRecord.self, from: data.prefix(Self.headLength)),
            record.kind == Self.format, record.file.condition != nil, record.file.length == record.length
        else { return nil }
        let position = data.suffix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard position <= UInt64(clamping: record.length) else { return nil }
        record.position = Int64(position)
        self = record
    }

    /// The record, without the last byte if the file is complete: one more request then confirms the version, when a
    /// process ended before the file had its name. Nil for a complete file without bytes.
    var withoutLastByte: DownloadRecord? {
        guard length > 0 else { return nil }
        var copy = self
        copy.position = min(position, length - 1)
        return copy
    }
}
