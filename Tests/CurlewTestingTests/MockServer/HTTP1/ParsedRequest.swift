// SPDX-License-Identifier: MIT

@testable import CurlewTesting

/// What a parser made of some bytes, independent of how the bytes were split.
struct ParsedRequest: Equatable {
    var head: HTTP1RequestHead
    var body = Data()
    var trailers: HTTPHeaders?
    var ended = false
}

extension HTTP1RequestParser {
    mutating func receive(_ bytes: some ContiguousBytes) {
        bytes.withUnsafeBytes { receive($0) }
    }
}

struct ParserRun: Equatable {
    var requests: [ParsedRequest] = []
    var error: HTTP1ParseError?

    /// Feeds the pieces one by one, each drained before the next.
    init(_ pieces: [[UInt8]], limits: HTTP1RequestParser.Limits = .init()) {
        var parser = HTTP1RequestParser(limits: limits)
        do throws(HTTP1ParseError) {
            for piece in pieces {
                parser.receive(piece)
                while let event = try parser.next() { add(event) }
            }
        } catch {
            self.error = error
        }
    }

    init(_ text: String, limits: HTTP1RequestParser.Limits = .init()) {
        self.init([Array(text.utf8)], limits: limits)
    }

    private mutating func add(_ event: HTTP1RequestParser.Event) {
        if case .head(let head) = event {
            requests.append(ParsedRequest(head: head))
        } else if let last = requests.indices.last, !requests[last].ended {
            switch event {
            case .head: break
            case .body(let data): requests[last].body.append(data)
            case .trailers(let trailers): requests[last].trailers = trailers
            case .end: requests[last].ended = true
            }
        }
    }
}
