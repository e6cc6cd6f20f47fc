// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

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

/// Writes the body of a response while it arrives.
struct ResponsePrinter {
    let console: Console
    let text: MessageText

    /// Writes a body to the output. Returns the number of its bytes.
    ///
    /// In a pipe, the bytes are written unchanged. On a terminal, a body of at most 8 MiB is formatted, a longer one is
    /// written as it arrives, and a body that is not text is only described.
    func print(_ response: HTTPResponse) async throws -> Int64 {
        console.isPretty ? try await pretty(response) : try await raw(response.body)
    }

    private func raw(_ body: ResponseBody) async throws -> Int64 {
        var count: Int64 = 0
        var iterator = body.makeAsyncIterator()
        while let chunk = try await iterator.next() {
            count += Int64(chunk.count)
            try console.write(chunk)
        }
        return count
    }

    private func pretty(_ response: HTTPResponse) async throws -> Int64 {
        var data = Data()
        var count: Int64 = 0
        var isLong = false
        var iterator = response.body.makeAsyncIterator()
        while let chunk = try await iterator.next() {
            count += Int64(chunk.count)
            if isLong {
                try console.write(SafeText.lines(String(decoding: chunk, as: UTF8.self)))
                continue
            }
            data.append(chunk)
            if SafeText.isBinary(data), data.count >= 4096 {
                response.body.cancel()
                let length = response.body.declaredLength.map { Int($0) } ?? data.count
                try console.write(text.binary(length, response.mediaType))
                return count
            }
            if data.count > MessageText.formattedLimit {
                isLong = true
                try console.write(SafeText.lines(String(decoding: data, as: UTF8.self)))
                data = Data()
            }
        }
        if !isLong { try console.write(text.body(data, response.mediaType)) }
        return count
    }

    /// Writes a body to a file, which is replaced. Returns the number of its bytes.
    static func save(_ body: ResponseBody, to path: String) async throws -> Int64 {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        guard file >= 0 else { throw failure(path) }
        defer { close(file) }
        var count: Int64 = 0
        var iterator = body.makeAsyncIterator()
        while let chunk = try await iterator.next() {
            count += Int64(chunk.count)
            guard chunk.withUnsafeBytes({ PrivateFile.write($0, to: file) }) else { throw failure(path) }
        }
        return count
    }

    private static func failure(_ path: String) -> NetworkError {
        NetworkError(
            .storage, detail: PrivateFile.Failure("written", path).description, hint: "Check the path and its folder.")
    }
}
