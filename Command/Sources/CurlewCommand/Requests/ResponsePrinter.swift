// SPDX-License-Identifier: MIT

import Curlew

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
        let type = response.mediaType
        // Events and lines are of interest when they arrive.
        var isStreamed = ["text/event-stream", "application/x-ndjson", "application/jsonl"].contains(
            type?.essence ?? "")
        // What arrived and was not written yet.
        var data = Data()
        var count: Int64 = 0
        var iterator = response.body.makeAsyncIterator()
        do {
            while let chunk = try await iterator.next() {
                count += Int64(chunk.count)
                data.append(chunk)
                if !isStreamed, SafeText.isBinary(data), data.count >= 4096 {
                    response.body.cancel()
                    try console.write(text.binary(response.body.declaredLength.map { Int($0) } ?? data.count, type))
                    return count
                }
                isStreamed = isStreamed || data.count > MessageText.formattedLimit
                guard isStreamed else { continue }
                // A character or a line break that is not complete waits for the next chunk.
                let end = SafeText.endOfCompleteText(data)
                try console.write(SafeText.lines(String(decoding: data[..<end], as: UTF8.self)))
                data = Data(data[end...])
            }
        } catch {
            // What arrived before the failure may explain it.
            if !(error is OutputClosed) { try? console.write(text.body(data, type)) }
            throw error
        }
        try console.write(
            isStreamed ? SafeText.lines(String(decoding: data, as: UTF8.self)) : text.body(data, type))
        return count
    }

    /// Writes a body to a file, which is replaced. Returns the number of its bytes.
    static func save(_ body: ResponseBody, to path: String) async throws -> Int64 {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        guard file >= 0 else { throw PrivateFile.failure("written", path) }
        defer { close(file) }
        var count: Int64 = 0
        var iterator = body.makeAsyncIterator()
        while let chunk = try await iterator.next() {
            count += Int64(chunk.count)
            guard ProcessStreams.write(chunk, to: file) == .complete else {
                throw PrivateFile.failure("written", path)
            }
        }
        return count
    }
}
