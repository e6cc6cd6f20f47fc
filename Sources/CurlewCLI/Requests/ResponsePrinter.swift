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

    /// Writes the bytes as they are.
    func raw(_ body: ResponseBody) async throws -> Int64 {
        var count: Int64 = 0
        var iterator = body.makeAsyncIterator()
        while let chunk = try await iterator.next() {
            count += Int64(chunk.count)
            try console.write(chunk)
        }
        return count
    }

    private func pretty(_ response: HTTPResponse) async throws -> Int64 {
        var state = Pretty(isStreamed: Self.isStream(response.mediaType))
        do {
            try await show(response, &state)
        } catch {
            // What arrived before the failure may explain it.
            if !(error is OutputClosed) { try? console.write(text.body(state.data, response.mediaType)) }
            throw error
        }
        return state.count
    }

    private struct Pretty {
        /// What arrived and was not written yet.
        var data = Data()
        var count: Int64 = 0
        /// Whether the body is written while it arrives.
        var isStreamed: Bool
    }

    /// Events and lines are of interest when they arrive.
    private static func isStream(_ type: MediaType?) -> Bool {
        ["text/event-stream", "application/x-ndjson", "application/jsonl"].contains(type?.essence ?? "")
    }

    private func show(_ response: HTTPResponse, _ state: inout Pretty) async throws {
        var iterator = response.body.makeAsyncIterator()
        while let chunk = try await iterator.next() {
            state.count += Int64(chunk.count)
            state.data.append(chunk)
            if !state.isStreamed {
                if SafeText.isBinary(state.data), state.data.count >= 4096 {
                    response.body.cancel()
                    let length = response.body.declaredLength.map { Int($0) } ?? state.data.count
                    state.data = Data()
                    return try console.write(text.binary(length, response.mediaType))
                }
                state.isStreamed = state.data.count > MessageText.formattedLimit
            }
            guard state.isStreamed else { continue }
            // A character or a line break that is not complete waits for the next chunk.
            let end = SafeText.endOfCompleteText(state.data)
            try console.write(SafeText.lines(String(decoding: state.data[..<end], as: UTF8.self)))
            state.data = Data(state.data[end...])
        }
        let rest = state.data
        state.data = Data()
        let last = SafeText.lines(String(decoding: rest, as: UTF8.self))
        try console.write(state.isStreamed ? last : text.body(rest, response.mediaType))
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
