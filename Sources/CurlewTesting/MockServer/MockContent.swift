// SPDX-License-Identifier: MIT

package import CurlewHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Response content in pieces, generated or read while it is sent, so that memory use does not depend on its size.
package struct MockContent {
    /// The length; `nil` when the content is sent in chunks.
    package let length: Int?
    /// Whether a file could not be read to its end.
    private(set) var hasFailed = false
    private var source: Source

    private enum Source {
        case data(ArraySlice<UInt8>)
        case chunks(ArraySlice<Data>, rest: ArraySlice<UInt8>)
        case file(OpenFile, remaining: Int)
        case generated(Range<Int>)
    }

    static let empty = MockContent(length: 0, source: .data([]))

    private init(length: Int?, source: Source) {
        self.length = length
        self.source = source
    }

    /// Opens the file of a file body, so that a missing file is detected before the head is sent.
    package init(_ body: MockResponse.Body) throws(HTTP1WriteError) {
        switch body {
        case .data(let data): self.init(length: data.count, source: .data(ArraySlice(data)))
        case .chunks(let pieces): self.init(length: nil, source: .chunks(pieces[...], rest: []))
        case .generated(let bytes, let chunked):
            self.init(length: chunked ? nil : max(0, bytes), source: .generated(0..<max(0, bytes)))
        case .file(let path):
            guard let file = OpenFile(path) else { throw HTTP1WriteError("the file cannot be opened: \(path)") }
            self.init(length: file.size, source: .file(file, remaining: file.size))
        }
    }

    /// Returns the next piece, of at most `limit` bytes and never empty; `nil` at the end.
    package mutating func next(upTo limit: Int) -> [UInt8]? {
        switch source {
        case .data(let bytes):
            let piece = bytes.prefix(min(limit, 4 * Self.pieceSize))
            source = .data(bytes.dropFirst(piece.count))
            return piece.isEmpty ? nil : Array(piece)
        case .chunks(var pieces, var rest):
            while rest.isEmpty {
                guard let piece = pieces.popFirst() else { return nil }
                rest = ArraySlice(piece)
            }
            let piece = rest.prefix(limit)
            source = .chunks(pieces, rest: rest.dropFirst(piece.count))
            return Array(piece)
        case .file(let file, let remaining):
            guard remaining > 0 else { return nil }
            guard let piece = file.read(upTo: min(limit, remaining, Self.pieceSize)) else {
                hasFailed = true
                return nil
            }
            source = .file(file, remaining: remaining - piece.count)
            return piece
        case .generated(let range):
            let piece = range.prefix(min(limit, Self.pieceSize))
            source = .generated(piece.upperBound..<range.upperBound)
            return piece.isEmpty ? nil : Array(Self.pattern(piece))
        }
    }

    /// Returns the bytes of generated content at these offsets.
    static func pattern(_ range: Range<Int>) -> ArraySlice<UInt8> {
        let start = range.lowerBound % 251
        if start + range.count <= table.count { return table[start..<(start + range.count)] }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(range.count)
        while bytes.count < range.count {
            let next = (start + bytes.count) % 251
            bytes += table[next..<(next + min(range.count - bytes.count, table.count - next))]
        }
        return bytes[...]
    }

    private static let pieceSize = 16_384
    /// Long enough for a piece that begins at any offset. Generating a large body byte by byte would take seconds.
    private static let table = (0..<(pieceSize + 251)).map { UInt8($0 % 251) }
}

/// A file that is closed with the last reference to it.
private final class OpenFile: Sendable {
    let size: Int
    private let descriptor: Int32

    init?(_ path: String) {
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        var information = stat()
        guard fstat(descriptor, &information) == 0, information.st_mode & S_IFMT == S_IFREG,
            let size = Int(exactly: information.st_size)
        else {
            close(descriptor)
            return nil
        }
        self.size = size
    }

    deinit {
        close(descriptor)
    }

    func read(upTo count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        #if canImport(Darwin)
        let length = Darwin.read(descriptor, &bytes, count)
        #elseif canImport(Musl)
        let length = Musl.read(descriptor, &bytes, count)
        #else
        let length = Glibc.read(descriptor, &bytes, count)
        #endif
        guard length > 0 else { return nil }
        bytes.removeSubrange(length...)
        return bytes
    }
}
