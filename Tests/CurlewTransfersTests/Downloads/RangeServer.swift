// SPDX-License-Identifier: MIT

import TestServers

/// A server of one file in memory that supports ranges, and breaks connections where the test says so.
final class RangeServer: Transport {
    struct State {
        var content: Data
        var tag: String? = "\"v1\""
        var supportsRanges = true
        /// Whether the server says that it supports ranges, and ignores them.
        var ignoresRanges = false
        var declaresLength = true
        /// Changes the heads of responses to ranges.
        var onPart: (@Sendable (inout HTTPResponse) -> Void)?
        /// Whether a range is sent whatever `If-Range` says.
        var ignoresCondition = false
        /// How a response breaks off.
        var cut = Cut.fails(NetworkError(.connectionLost(.requestMayHaveArrived)))
        /// The number of bytes after which each of the next responses breaks off.
        var cuts: [Int] = []
        /// Responses to send instead.
        var replies: [HTTPResponse] = []
        var headers: HTTPHeaders = [:]
        var requests: [HTTPRequest] = []
        var sent: Int64 = 0
        var onRequest: (@Sendable (inout State) -> Void)?
        /// Called when a response waits for its cancellation.
        var onWait: (@Sendable () -> Void)?
    }

    /// What a response does after its last byte.
    enum Cut {
        case fails(NetworkError), endsEarly, waits
    }

    let state: Locked<State>

    init(_ content: Data, change: (inout State) -> Void = { _ in }) {
        var state = State(content: content)
        change(&state)
        self.state = Locked(state)
    }

    /// A client of this server, whose waits between attempts take no time.
    func client(limits: Limits? = nil) -> APIClient {
        .testing(self, baseURL: "https://media.example", limits: limits, time: ManualClock(skipsWaits: true))
    }

    static func bytes(_ count: Int, _ generator: inout SeededGenerator) -> Data {
        var data = Data(capacity: count + 8)
        while data.count < count { withUnsafeBytes(of: generator.next() as UInt64) { data.append(contentsOf: $0) } }
        return data.prefix(count)
    }

    var requests: [HTTPRequest] { state.withLock { $0.requests } }
    var ranges: [String?] { requests.map { $0.headers[.range] } }
    var sent: Int64 { state.withLock { $0.sent } }

    func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal { .anonymous }

    func send(_ request: HTTPRequest, in context: ExchangeContext) async throws -> HTTPResponse {
        let (reply, cut) = state.withLock { state -> (Reply, (Int, Cut)?) in
            state.requests.append(request)
            let change = state.onRequest
            change?(&state)
            if !state.replies.isEmpty { return (.ready(state.replies.removeFirst()), nil) }
            let cut = state.cuts.isEmpty ? nil : state.cuts.removeFirst()
            return (.file(Self.answer(request, state)), cut.map { ($0, state.cut) })
        }
        switch reply {
        case .ready(let response): return response
        case .file(let (head, bytes, length)):
            var response = head
            response.body = ResponseBody(Chunks(self, bytes, cut), limit: context.limits.responseBody, length: length)
            return response
        }
    }

    private enum Reply {
        case ready(HTTPResponse)
        case file((HTTPResponse, Data, Int64?))
    }

    private static func answer(_ request: HTTPRequest, _ state: State) -> (HTTPResponse, Data, Int64?) {
        var response = HTTPResponse(url: request.urlString)
        response.headers = state.headers
        if let tag = state.tag { response.headers[.eTag] = tag }
        if state.supportsRanges { response.headers["Accept-Ranges"] = "bytes" }
        let whole = Int64(state.content.count)
        if state.supportsRanges, !state.ignoresRanges, let text = request.headers[.range], let range = ByteRange(text),
            state.ignoresCondition || request.headers["If-Range"] == nil || request.headers["If-Range"] == state.tag
        {
            guard let bytes = range.bytes(of: whole) else {
                response.status = .rangeNotSatisfiable
                response.headers[.contentRange] = "bytes */\(whole)"
                return (response, Data(), 0)
            }
            response.status = .partialContent
            response.headers[.contentRange] = ContentRange(bytes, of: whole)?.description
            let part = state.content[Int(bytes.lowerBound)..<Int(bytes.upperBound)]
            state.onPart?(&response)
            if response.status == .rangeNotSatisfiable { return (response, Data(), 0) }
            return (response, Data(part), Int64(part.count))
        }
        return (response, state.content, state.declaresLength ? whole : nil)
    }

    private func count(_ bytes: Int) {
        state.withLock { $0.sent += Int64(bytes) }
    }

    /// A body in chunks of 64 KiB at most, which may break off.
    private final class Chunks: ResponseBodySource {
        private let server: RangeServer
        private let end: Cut?
        private let rest: Locked<(data: Data, cut: Int?, isCancelled: Bool)>

        init(_ server: RangeServer, _ data: Data, _ cut: (bytes: Int, end: Cut)?) {
            self.server = server
            end = cut?.end
            rest = Locked((data, cut?.bytes, false))
        }

        func next() async throws -> Data? {
            await Task.yield()
            let chunk = try rest.withLock { rest throws(NetworkError) -> Data? in
                if rest.isCancelled { throw NetworkError(.cancelled) }
                if rest.cut == 0, case .fails(let error) = end { throw error }
                if rest.cut == 0 { return nil }
                guard !rest.data.isEmpty else { return nil }
                let chunk = rest.data.prefix(min(64 << 10, rest.cut ?? .max))
                rest.data = rest.data.dropFirst(chunk.count)
                rest.cut = rest.cut.map { $0 - chunk.count }
                return Data(chunk)
            }
            if let chunk { server.count(chunk.count) }
            if chunk == nil, case .waits = end {
                server.state.withLock { $0.onWait }?()
                try await waitForCancellation()
            }
            return chunk
        }

        func cancel() {
            rest.withLock { $0.isCancelled = true }
        }
    }
}

extension TemporaryFolder {
    /// The names of all files, those of partial downloads included.
    var names: [String] { get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() } }

    func appendingPathComponent(_ name: String) -> URL { URL(fileURLWithPath: path + "/" + name) }
}
