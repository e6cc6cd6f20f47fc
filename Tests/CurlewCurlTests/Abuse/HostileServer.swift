// SPDX-License-Identifier: MIT

/// Responds to each request as its path says: with an entry of `HostileResponse.all`, a token, and how the bytes are
/// written.
final class HostileServer: Sendable {
    private let server: RawServer
    var connectionCount: Int { server.connectionCount }

    /// With a `greeting`, the first connection gets it before any request, after it has been passed to `greets`.
    init(greeting: String = "", greets: @escaping @Sendable (RawConnection) -> Void = { _ in }) throws {
        server = try RawServer { connection in
            if connection.index == 0, !greeting.isEmpty {
                greets(connection)
                try connection.write(greeting)
            }
            while true { try Self.serve(connection) }
        }
    }

    var port: Int { server.port }

    private static func readHead(_ connection: RawConnection) throws -> String {
        var head = Data()
        while head.suffix(4) != Data("\r\n\r\n".utf8) { head += try connection.read(upTo: 4096) }
        return String(decoding: head, as: UTF8.self)
    }

    private static func serve(_ connection: RawConnection) throws {
        let path = try readHead(connection).split(separator: " ")[1].split(separator: "/")
        guard path.count == 3, let index = Int(path[0]), let seed = UInt64(path[2]) else { throw RawConnection.Gone() }
        let response = index < HostileResponse.all.count ? HostileResponse.all[index] : .good
        let bytes = response.bytes(String(path[1]))
        var generator = SeededGenerator(seed: seed)
        var start = 0
        while start < bytes.count {
            let count = seed == 0 ? bytes.count : seed == 1 ? 1 : Int.random(in: 1...100, using: &generator)
            try connection.write(bytes[start..<min(start + count, bytes.count)])
            start += count
        }
        switch response.ending {
        case .keep: return
        case .close: break
        case .reset: connection.reset()
        case .endOutput:
            connection.endOutput()
            connection.waitUntilClosed()
        case .hold:
            _ = try readHead(connection)
            return try connection.write(HostileResponse.good.bytes("poison"))
        case .flood(let text):
            // More than every limit, and no more than a test has time for.
            let block = Data(String(repeating: text, count: 65_536 / text.utf8.count).utf8)
            for _ in 0..<1024 { try connection.write(block) }
        }
        throw RawConnection.Gone()
    }

    /// The path of a call: the number of its response in the table, its token, and how the response is written: at
    /// once with a seed of 0, byte by byte with 1, and in random pieces with any other.
    func url(_ index: Int?, _ token: String, seed: UInt64 = 0) -> String {
        "\(server.url)/\(index ?? HostileResponse.all.count)/\(token)/\(seed)"
    }
}

extension HostileResponse {
    static let good = HostileResponse(
        "a response", "HTTP/1.1 200 OK\r\nX-Id: $T\r\nContent-Length: 12\r\n\r\n$T", .own)

    /// Whether it must be written at once: bytes behind a response that come after the next request are the response to
    /// that one by HTTP/1.1, whatever they say.
    var isWhole: Bool { ending == .keep && !isKept && [.own, .empty].contains(expected[0]) }

    private static let tokens = Locked(0)

    /// Another one for each call, of twelve bytes.
    static var nextToken: String {
        let digits = String(tokens.next())
        return "t" + String(repeating: "0", count: 11 - digits.count) + digits
    }

    static let limits = Limits(headerBytes: 16_384, headerCount: 100, responseBody: 1 << 20)
    static let silence = Duration.milliseconds(100)

    /// How one call for the entry `index` of the table ends; for a good response if there is none.
    static func outcome(
        _ index: Int?, of server: HostileServer, over transport: CurlTransport, seed: UInt64 = 0,
        streams: Bool = false, observers: [any RequestObserver] = []
    ) async -> Outcome {
        let response = index.map { all[$0] } ?? .good
        let token = nextToken
        let patience: Duration = response.ending == .hold ? silence : .seconds(20)
        let timeouts = Timeouts(connect: .seconds(20), firstByte: patience, idle: patience, total: .seconds(30))
        do {
            let response = try await transport.exchange(
                response.method, server.url(index, token, seed: seed), timeouts: timeouts, limits: limits,
                observers: observers
            ) { $0.streaming = streams }
            let (id, body) = (response.headers[values: "X-Id"], try await response.text())
            if id != [token] || body.contains("poison") { return .wrong("\(id), \"\(body.prefix(40))\"") }
            return body == token ? .own : body.isEmpty ? .empty : .odd
        } catch {
            return .failed(NetworkError(error).reason)
        }
    }
}
