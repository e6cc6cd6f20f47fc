// SPDX-License-Identifier: MIT

import CurlewHTTP

/// The serialized parts of a response. If the response cannot be sent, creating the plan throws before any byte has
/// been sent.
struct MockReplyPlan {
    let informational: [UInt8]
    let head: [UInt8]
    let content: MockContent
    /// The bytes after complete content: the last chunk with the trailers, or nothing.
    let end: [UInt8]
    let isChunked: Bool
    /// Whether the response consists of its head only.
    let isBare: Bool
    /// The size line of every chunk, if it is to be malformed; otherwise `nil`.
    let chunkLine: String?
    let keepsConnection: Bool

    init(_ response: MockResponse, isHead: Bool, keepAlive: Bool, version: HTTPVersion) throws(HTTP1WriteError) {
        let source = try MockContent(response.body)
        let replaced = response.faults.framing
        let framing = replaced == nil ? Self.framing(response, source, isHead: isHead, version: version) : .none
        let keeps = response.keepAlive && keepAlive && framing != .untilClose
        var headers = response.headers
        if !keeps, response.keepAlive == false || framing == .untilClose {
            if !headers.contains(.connection) { headers.append(.connection, "close") }
        } else if keeps, version < .http1_1, !headers.contains(.connection) {
            headers.append(.connection, "keep-alive")
        }

        var before: [UInt8] = []
        for head in response.informational {
            try HTTP1ResponseWriter.informational(head.status, headers: head.headers, into: &before)
        }
        var bytes: [UInt8] = []
        try HTTP1ResponseWriter.head(
            response.status, reason: response.reason, headers: headers, framing: framing, into: &bytes)
        if let replaced {
            // The framing fields belong before the empty line that ends the head.
            bytes.removeLast(2)
            for line in replaced.lines + [""] { bytes += "\(line)\r\n".utf8 }
        }
        isBare = isHead || response.status.forbidsContent
        var end: [UInt8] = []
        if framing == .chunked || replaced?.hasLastChunk == true {
            try HTTP1ResponseWriter.lastChunk(trailers: response.trailers, into: &end)
        }

        informational = before
        head = bytes
        content = isBare ? .empty : source
        self.end = isBare ? [] : end
        isChunked = framing == .chunked || replaced?.isChunked == true
        chunkLine = replaced?.chunkLine
        keepsConnection = keeps && !response.faults.closesSilently && replaced == nil
    }

    private static func framing(
        _ response: MockResponse, _ content: MockContent, isHead: Bool, version: HTTPVersion
    ) -> HTTP1ResponseWriter.Framing {
        if response.status.forbidsContent || isHead {
            // A response without content may declare the length that its content would have.
            if let length = response.headers[.contentLength].flatMap({ Int($0) }) { return .length(length) }
            if response.status.forbidsContent { return .none }
        }
        if let length = content.length, response.trailers.isEmpty { return .length(length) }
        return version < .http1_1 ? .untilClose : .chunked
    }
}
