// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import CurlewObservability

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The response, or the failure, that an entry of a cassette contains.
struct CassetteReplay {
    let entry: HARDocument.Entry

    /// The start of the comment that lists the sizes of the chunks of a body.
    static let chunksMark = "chunks: "

    func response(to request: HTTPRequest, in context: ExchangeContext) throws(NetworkError) -> HTTPResponse {
        let status = entry.response.status
        guard (100...999).contains(status) else { throw CassetteFailure.error(entry.response.error ?? "", request) }
        let data = try entry.response.content.data() ?? Data()
        let headers = headers(for: request.method, status, count: data.count)
        if let problem = headers.problem {
            throw NetworkError(
                .badResponse, detail: "The cassette contains an invalid field: \(problem.message)",
                request: NetworkError.RequestLine(request))
        }
        let pieces = pieces(of: data)
        let failure = entry.response.error.map { CassetteFailure.error($0, request) }
        let body =
            pieces.count > 1 || failure != nil
            ? ResponseBody(ReplayedChunks(pieces: pieces, failure: failure)) : ResponseBody(data)
        var response = HTTPResponse(
            status: HTTPStatus(status), headers: headers,
            body: body.limited(to: context.limits.responseBody), version: version, url: request.urlString,
            reasonPhrase: entry.response.statusText.isEmpty ? nil : entry.response.statusText)
        response.metrics.version = response.version
        response.metrics.firstByte = .zero
        if failure == nil, pieces.count <= 1 { response.metrics.total = .zero }
        return response
    }

    /// Returns the recorded fields. The body is decoded, and a redaction may have changed its length.
    func headers(for method: HTTPMethod, _ status: Int, count: Int) -> HTTPHeaders {
        var headers = HTTPHeaders(recorded: entry.response.headers)
        let hasContent = method != .head && status != 204 && status != 304
        if hasContent, headers.contains(.contentEncoding) {
            headers.remove(.contentEncoding)
            headers.remove(.contentLength)
        } else if hasContent, headers.contains(.contentLength), entry.response.error == nil {
            headers.set(.contentLength, "\(count)")
        }
        return headers
    }

    private var version: HTTPVersion {
        switch entry.response.httpVersion.lowercased() {
        case "http/1.0": .http1_0
        case "h2", "http/2", "http/2.0": .http2
        case "h3", "http/3", "http/3.0": .http3
        default: .http1_1
        }
    }

    /// Returns the chunks of the body: the recorded ones, or the events of an event stream whose chunks are unknown.
    func pieces(of data: Data) -> [Data] {
        if let comment = entry.response.content.comment, comment.begins(with: Self.chunksMark) {
            let sizes = comment.utf8.dropFirst(Self.chunksMark.utf8.count).split(separator: 0x20)
                .compactMap { Int(Substring($0)) }
            if sizes.allSatisfy({ $0 > 0 && $0 <= data.count }), Self.sum(sizes, is: data.count) {
                var start = data.startIndex
                return sizes.map { size in
                    defer { start += size }
                    return data[start..<(start + size)]
                }
            }
        }
        let type = MediaType(entry.response.content.mimeType)
        return type?.essence == MediaType.eventStream.essence ? Self.events(data) : data.isEmpty ? [] : [data]
    }

    private static func sum(_ sizes: [Int], is count: Int) -> Bool {
        var rest = count
        for size in sizes {
            rest -= size
            if rest < 0 { return false }
        }
        return rest == 0
    }

    private static func events(_ data: Data) -> [Data] {
        var pieces: [Data] = []
        var rest = data[...]
        while let end = rest.firstRange(of: Data("\n\n".utf8))?.upperBound {
            pieces.append(rest[..<end])
            rest = rest[end...]
        }
        return rest.isEmpty ? pieces : pieces + [rest]
    }
}

/// Chunks of a recorded body, and then the recorded failure, if any.
private struct ReplayedChunks: AsyncSequence, Sendable {
    typealias Element = Data

    let pieces: [Data]
    let failure: NetworkError?

    func makeAsyncIterator() -> Iterator { Iterator(rest: pieces[...], failure: failure) }

    struct Iterator: AsyncIteratorProtocol {
        var rest: ArraySlice<Data>
        let failure: NetworkError?

        mutating func next() async throws -> Data? {
            try Task.checkCancellation()
            if let piece = rest.popFirst() { return piece }
            if let failure { throw failure }
            return nil
        }
    }
}
