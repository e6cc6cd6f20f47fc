// SPDX-License-Identifier: MIT

import CurlewCore

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

/// Follows a body's recipe the way a transport does, and keeps the beginning of the bytes.
struct RequestBodyReader {
    /// The first bytes, at most `limit`.
    private(set) var data = Data()
    /// How many there were.
    private(set) var count: Int64 = 0
    private let limit: Int

    private static let pieceSize = 64 << 10

    /// Reads all of `body`. Throws what a transport throws: `.invalidRequest` for a file that cannot be opened,
    /// `.encoding` for bytes that are fewer or more than promised, and what a stream throws.
    init(_ body: RequestBody, limit: Int) async throws {
        self.limit = limit
        switch body.kind {
        case .empty: break
        case .parts(let parts):
            for part in parts {
                switch part {
                case .bytes(let data): append(data)
                case .file(let path, let offset, let length): try readFile(path, from: offset, length: length)
                }
            }
        case .file(let path): try readFile(path, from: 0, length: nil)
        case .stream(let length, _, let make):
            let next = try make().makeNext()
            while let chunk = try await next() {
                try Task.checkCancellation()
                append(chunk)
                if let length, count > length { throw Self.wrongLength }
            }
            if let length, count != length { throw Self.wrongLength }
        }
    }

    private mutating func append(_ chunk: Data) {
        count += Int64(chunk.count)
        data.append(chunk.prefix(max(0, limit - data.count)))
    }

    private mutating func readFile(_ path: String, from start: Int64, length: Int64?) throws(NetworkError) {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else {
            throw NetworkError(.invalidRequest, detail: "The file \(path) cannot be opened (errno \(errno)).")
        }
        defer { close(file) }
        var buffer = [UInt8](repeating: 0, count: Self.pieceSize)
        var done: Int64 = 0
        while done < length ?? .max {
            let wanted = Int(min(Int64(Self.pieceSize), (length ?? .max) - done))
            let got = pread(file, &buffer, wanted, off_t(start + done))
            if got < 0 {
                throw NetworkError(.invalidRequest, detail: "The file \(path) cannot be read (errno \(errno)).")
            }
            if got == 0 {
                if length == nil { return }
                throw NetworkError(.encoding, detail: "The file \(path) became shorter while it was sent.")
            }
            append(Data(buffer[..<got]))
            done += Int64(got)
        }
    }

    private static var wrongLength: NetworkError {
        NetworkError(.encoding, detail: "The stream gave another number of bytes than its length says.")
    }
}
