// SPDX-License-Identifier: MIT

import CurlewCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a partial file contains, as stored beside it: the version of the file, and how much of each segment is written.
///
/// The first 4,096 bytes of the record are a JSON object, padded with spaces. They are written once for each version of
/// the file. The position of each segment follows as eight bytes, which are replaced while the segment grows.
struct DownloadRecord: Equatable, Codable, Sendable {
    /// A part of the file that one connection receives in order.
    struct Segment: Equatable, Codable, Sendable {
        let start: Int64
        /// The first byte behind the segment.
        let end: Int64
        /// The first byte that is not written yet.
        var position: Int64

        init(_ bytes: Range<Int64>) {
            (start, end, position) = (bytes.lowerBound, bytes.upperBound, bytes.lowerBound)
        }

        var isComplete: Bool { position >= end }

        private enum CodingKeys: CodingKey { case start, end }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            start = try values.decode(Int64.self, forKey: .start)
            end = try values.decode(Int64.self, forKey: .end)
            position = start
        }
    }

    static let headLength = 4096
    static let mostSegments = 16
    private static let format = "curlew-download-1"

    private let kind: String
    /// The digest of what is downloaded: the method and URL, or `FileDownload.Options.resumeKey`.
    let key: String
    let file: Representation
    /// The name that the server suggested.
    let name: String?
    var segments: [Segment]

    init(key: String, file: Representation, name: String?, segments: [Segment]) {
        kind = Self.format
        self.key = key
        self.file = file
        self.name = name
        self.segments = segments
    }

    /// Divides a file among at most `connections` segments of at least 4 MiB.
    static func segments(of length: Int64, connections: Int) -> [Segment] {
        let most = length >= 8 << 20 ? min(Int64(connections), length / (4 << 20), Int64(mostSegments)) : 1
        let count = max(1, most)
        return (0..<count).map { Segment(length / count * $0..<($0 == count - 1 ? length : length / count * ($0 + 1))) }
    }

    /// The offset of a segment's position in the record.
    static func offset(ofSegment index: Int) -> Int64 { Int64(headLength + 8 * index) }

    /// The bytes of a segment's position.
    static func bytes(ofPosition position: Int64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: position >> (8 * $0)) }
    }

    /// The bytes of the record; nil if the head does not fit.
    var bytes: Data? {
        guard var head = try? JSONEncoder().encode(self), head.count < Self.headLength else { return nil }
        head.append(Data(repeating: 0x20, count: Self.headLength - 1 - head.count))
        head.append(0x0A)
        for segment in segments { head.append(contentsOf: Self.bytes(ofPosition: segment.position)) }
        return head
    }

    /// Reads a record. Returns nil unless it is complete and consistent.
    init?(_ data: Data) {
        let data = Data(data)
        guard data.count >= Self.headLength,
            var record = try? JSONDecoder().decode(DownloadRecord.self, from: data.prefix(Self.headLength)),
            record.kind == Self.format, let length = record.file.length, record.file.condition != nil,
            (1...Self.mostSegments).contains(record.segments.count),
            data.count >= Self.headLength + 8 * record.segments.count
        else { return nil }
        var expected: Int64 = 0
        for index in record.segments.indices {
            let segment = record.segments[index]
            guard segment.start == expected, segment.end >= segment.start, segment.end <= length else { return nil }
            expected = segment.end
            let start = Int(Self.offset(ofSegment: index))
            let position = data[start..<start + 8].enumerated().reduce(UInt64(0)) { sum, byte in
                sum | UInt64(byte.element) << (8 * UInt64(byte.offset))
            }
            guard position >= UInt64(segment.start), position <= UInt64(segment.end) else { return nil }
            record.segments[index].position = Int64(position)
        }
        guard expected == length else { return nil }
        self = record
    }

    /// The record, without the last byte if the file is complete: one more request then confirms the version, when a
    /// process ended before the file had its name. Nil for a complete file without bytes.
    var withoutLastByte: DownloadRecord? {
        guard segments.allSatisfy(\.isComplete) else { return self }
        guard let last = segments.indices.last(where: { segments[$0].end > segments[$0].start }) else { return nil }
        var copy = self
        copy.segments[last].position -= 1
        return copy
    }

    /// The number of bytes that are written.
    var written: Int64 { segments.reduce(0) { $0 + $1.position - $1.start } }
}
