// SPDX-License-Identifier: MIT

import Testing

/// Connections that end at each moment of a request: what must not arrive twice does not, and errors say truly whether
/// it may have arrived.
@Suite(.timeLimit(.minutes(2)))
struct ArrivalTests {
    /// What the server has done when it ends the connection.
    enum Moment: CaseIterable, Sendable {
        case nothing, head, partOfBody, request, partOfResponse
    }

    private struct Trial: CustomStringConvertible {
        let moment: Moment
        let resets: Bool
        /// Whether the connection has carried another request, and is the only one that ends.
        let isWarm: Bool
        let method: HTTPMethod
        let source: BodySource?
        let size: Int

        var description: String { "\(method), \(source.map { "\($0)" } ?? "no body") of \(size), warm: \(isWarm)" }

        func server(_ arrivals: Locked<Int>) throws -> RawServer {
            try RawServer { connection in
                let ends = connection.index == 0 || !isWarm
                func end() { if resets { connection.reset() } }
                if ends, moment == .nothing, !isWarm { return end() }
                while true {
                    let head = try connection.readHead()
                    let isCounted = !head.hasPrefix("GET /warm")
                    if isCounted { arrivals.withLock { $0 += 1 } }
                    if ends, isCounted {
                        switch moment {
                        case .nothing, .head: break
                        case .partOfBody: if size > 1000 { _ = try connection.read(1000) }
                        case .request, .partOfResponse: try RawRequest.skipBody(connection, head)
                        }
                        if moment == .partOfResponse { try connection.write("HTTP/1.1 200 OK\r\nContent-Le") }
                        return end()
                    }
                    try RawRequest.skipBody(connection, head)
                    try connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                    if ends, moment == .nothing { return end() }
                }
            }
        }
    }

    @Test("No request arrives too often, and its error is true", arguments: Moment.allCases, [false, true])
    func arrivals(moment: Moment, resets: Bool) async throws {
        let folder = try TemporaryFolder()
        let posts: [(HTTPMethod, BodySource?, Int)] = BodySource.allCases.flatMap { source in
            [0, 10, 300_000].map { (.post, source, $0) }
        }
        for (method, source, size) in posts + [
            (.post, nil, 0), (.get, nil, 0), (.put, .bytes, 10), (.put, .bytes, 300_000),
        ] {
            for isWarm in [false, true] {
                let trial = Trial(
                    moment: moment, resets: resets, isWarm: isWarm, method: method, source: source, size: size)
                let arrivals = Locked(0)
                let server = try trial.server(arrivals)
                let transport = CurlTransport()
                if isWarm { _ = try await transport.exchange(.get, server.url + "/warm").data() }
                let body = try source?.body(of: size, in: folder) ?? .empty
                let error = await transport.failure(method, server.url + "/", body: body)
                let count = arrivals.withLock { $0 }
                let text: Comment = "\(trial): \(count) arrivals, \(error.map { "\($0)" } ?? "a response")"
                #expect(count <= (method == .post ? 1 : 2), text)
                switch error?.reason {
                case nil: #expect(isWarm && count >= 1, text)
                case .unreachable, .connectionLost(.requestNotSent): #expect(count == 0, text)
                case .connectionLost(.requestMayHaveArrived): break
                case _: Issue.record(text)
                }
                if let error { expectTexts(error) }
                if moment != .nothing, method == .post {
                    #expect(error?.reason == .connectionLost(.requestMayHaveArrived) && count == 1, text)
                }
                // Nothing of a response has come, so the request is sent again, once.
                if isWarm, method == .get, moment != .partOfResponse { #expect(error == nil, text) }
                if isWarm { #expect(try await transport.exchange(.get, server.url + "/warm").text() == "ok", text) }
                await transport.shutdown()
            }
        }
    }
}
