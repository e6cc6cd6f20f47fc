// SPDX-License-Identifier: MIT

/// How a hostile server answers a request, and what it adds that belongs to none.
struct HostileAnswer: Sendable, CustomStringConvertible {
    enum Framing: CaseIterable {
        case counted, empty, noContent, head, chunked, trailers, cutCoding, closing

        var hasBody: Bool { self == .counted || self == .chunked || self == .trailers || self == .closing }
    }

    enum Surplus: CaseIterable {
        case response, three, large, halfHead, halfBody, interim, earlyHints, newline, noHTTP, lastChunk, timeout, end
    }

    var framing = Framing.counted
    var surplus: Surplus?
    /// The surplus is written by itself.
    var isSplit = false
    /// Afterwards the server writes no more on the connection.
    var ends = false
    /// No response: the connection is reset when all other calls are over, and the request comes again.
    var isDropped = false

    var description: String {
        let surplus = surplus.map { "\($0)" } ?? "nothing"
        let more = [isSplit ? "split" : nil, ends ? "ends" : nil, isDropped ? "reset" : nil]
        return (["\(framing) and \(surplus)"] + more.compactMap(\.self)).joined(separator: ", ")
    }

    static func random(_ generator: inout SeededGenerator) -> HostileAnswer {
        var answer = HostileAnswer()
        answer.framing = Framing.allCases.randomElement(using: &generator) ?? .counted
        if Int.random(in: 0..<12, using: &generator) == 0 {
            answer.isDropped = true
        } else if answer.framing == .closing {
            answer.ends = true
        } else if Bool.random(using: &generator) {
            answer.surplus = Surplus.allCases.randomElement(using: &generator)
            answer.isSplit = Bool.random(using: &generator)
            answer.ends = Int.random(in: 0..<8, using: &generator) == 0
        }
        return answer
    }

    func bytes(for id: String) -> Data {
        let coding = "Content-Encoding: gzip\r\n"
        let length = "Content-Length: \(id.utf8.count)\r\n"
        let chunk = "\(String(id.utf8.count, radix: 16))\r\n\(id)\r\n0\r\n"
        let head = "HTTP/1.1 200 OK\r\nX-Id: \(id)\r\n"
        return switch framing {
        case .counted: Data("\(head)\(length)\r\n\(id)".utf8)
        case .empty: Data("\(head)Content-Length: 0\r\n\r\n".utf8)
        case .noContent: Data("HTTP/1.1 204 No Content\r\nX-Id: \(id)\r\n\r\n".utf8)
        case .head: Data("\(head)\(length)\r\n".utf8)
        case .chunked: Data("\(head)Transfer-Encoding: chunked\r\n\r\n\(chunk)\r\n".utf8)
        case .trailers: Data("\(head)Transfer-Encoding: chunked\r\n\r\n\(chunk)X-Id: trailer\r\n\r\n".utf8)
        // The ten bytes with which gzip begins, and nothing of the body.
        case .cutCoding: Data("\(head)\(coding)Content-Length: 10\r\n\r\n".utf8) + [31, 139, 8, 0, 0, 0, 0, 0, 0, 3]
        case .closing: Data("\(head)Connection: close\r\n\r\n\(id)".utf8)
        }
    }
}

extension HostileAnswer.Surplus {
    /// What would be a response if it were taken for one.
    private static let whole = "HTTP/1.1 200 OK\r\nX-Id: poison\r\nContent-Length: 6\r\n\r\npoison"

    var bytes: Data {
        let text =
            switch self {
            case .response: Self.whole
            case .three: Self.whole + Self.whole + Self.whole
            case .large:
                "HTTP/1.1 200 OK\r\nX-Id: poison\r\nContent-Length: 16384\r\n\r\n"
                    + String(repeating: "poison, ", count: 2048)
            case .halfHead: "HTTP/1.1 200 OK\r\nX-Id: poi"
            case .halfBody: "HTTP/1.1 200 OK\r\nX-Id: poison\r\nContent-Length: 600\r\n\r\npoison"
            case .interim: "HTTP/1.1 100 Continue\r\n\r\n"
            case .earlyHints: "HTTP/1.1 103 Early Hints\r\nX-Id: poison\r\n\r\n" + Self.whole
            case .newline: "\r\n" + Self.whole
            case .noHTTP: "poison"
            case .lastChunk: "0\r\n\r\n" + Self.whole
            case .timeout:
                "HTTP/1.1 408 Request Timeout\r\nX-Id: poison\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
            case .end: ""
            }
        return Data(text.utf8)
    }
}

/// Writes to its connections what belongs to no request, but only while it owes no response there: what comes later is
/// the response by HTTP/1.1, and it could not be distinguished from the right one.
final class DesyncServer: Sendable {
    private struct Line {
        let connection: RawConnection
        let clientPort: Int
        var isBusy = false
        var hasEnded = false

        var written: ClientSockets.Written {
            .init(clientPort: clientPort, bytes: connection.written, hasEnded: hasEnded)
        }
    }

    private struct State {
        var lines: [Int: Line] = [:]
        /// Of the calls of this round.
        var answers: [String: HostileAnswer] = [:]
        /// Those that have neither arrived nor ended.
        var awaited: Set<String> = []
        /// The responses of a round begin when all calls have arrived, so each has a connection of its own.
        var all = Signal()
        var drop = Signal()
    }

    private let state: Locked<State>
    private let server: RawServer
    var url: String { server.url }
    var port: Int { server.port }
    var connectionCount: Int { server.connectionCount }

    init() throws {
        let state = Locked(State())
        self.state = state
        server = try RawServer { connection in
            let line = Line(connection: connection, clientPort: connection.peerPort)
            state.withLock { $0.lines[connection.index] = line }
            defer { state.withLock { $0.lines[connection.index] = nil } }
            while true { try Self.serve(connection, state) }
        }
    }

    private static func serve(_ connection: RawConnection, _ state: Locked<State>) throws {
        var head = Data()
        while !head.suffix(4).elementsEqual(Data("\r\n\r\n".utf8)) { head += try connection.read(upTo: 4096) }
        let text = String(decoding: head, as: UTF8.self)
        let id = String(text.split(separator: " ")[1].dropFirst())
        let (answer, all, drop) = state.withLock { state in
            state.lines[connection.index]?.isBusy = true
            // One that comes again is answered as it should be.
            let answer = state.answers.removeValue(forKey: id)
            note(id, &state)
            return (answer, state.all, state.drop)
        }
        guard let answer else {
            // HEAD has no body, whatever its head says.
            let plain = HostileAnswer(framing: text.hasPrefix("HEAD ") ? .head : .counted)
            try connection.write(plain.bytes(for: id))
            return state.withLock { $0.lines[connection.index]?.isBusy = false }
        }
        all.block()
        if answer.isDropped {
            drop.block()
            state.withLock { $0.lines[connection.index]?.hasEnded = true }
            connection.reset()
            throw RawConnection.Gone()
        }
        let surplus = answer.surplus?.bytes ?? Data()
        if answer.isSplit {
            try connection.write(answer.bytes(for: id))
            try connection.write(surplus)
        } else {
            try connection.write(answer.bytes(for: id) + surplus)
        }
        if answer.ends { connection.endOutput() }
        state.withLock { state in
            state.lines[connection.index]?.hasEnded = answer.ends
            state.lines[connection.index]?.isBusy = false
        }
    }

    private static func note(_ id: String, _ state: inout State) {
        if state.awaited.remove(id) != nil, state.awaited.isEmpty { state.all.fire() }
    }

    /// What the next calls are answered with. Those before must be over.
    func begin(_ answers: [String: HostileAnswer]) {
        state.withLock { state in
            state.answers = answers
            state.awaited = Set(answers.keys)
            (state.all, state.drop) = (Signal(), Signal())
        }
    }

    /// The client has the outcome of a call, which perhaps never arrives.
    func noteEnd(_ id: String) {
        state.withLock { Self.note(id, &$0) }
    }

    /// No call is on its way, and the connections on which the server owes a response are those of dropped requests.
    func hasAnswered(allBut dropped: Int) -> Bool {
        state.withLock { state in state.awaited.isEmpty && state.lines.values.count { $0.isBusy } <= dropped }
    }

    /// Everything that was written, and all ends, on connections without a request.
    var written: [ClientSockets.Written] {
        state.withLock { state in state.lines.values.filter { !$0.isBusy }.map(\.written) }
    }

    /// Writes to some of the connections without a request. Says what was written to those.
    func strike(_ generator: inout SeededGenerator) -> [ClientSockets.Written] {
        let lines = state.withLock { $0.lines }.filter { !$0.value.isBusy && !$0.value.hasEnded }
        var written: [ClientSockets.Written] = []
        for (index, line) in lines.sorted(by: { $0.key < $1.key }) where Bool.random(using: &generator) {
            let surplus = HostileAnswer.Surplus.allCases.randomElement(using: &generator) ?? .response
            try? line.connection.write(surplus.bytes)
            let ends = surplus == .end || Int.random(in: 0..<8, using: &generator) == 0
            if ends {
                state.withLock { $0.lines[index]?.hasEnded = true }
                line.connection.endOutput()
            }
            written.append(
                .init(clientPort: line.clientPort, bytes: line.connection.written, hasEnded: ends))
        }
        return written
    }

    /// Resets the connections of dropped requests. Says which.
    func drop() -> [ClientSockets.Written] {
        state.withLock { state in
            state.drop.fire()
            return state.lines.values.filter(\.isBusy).map {
                .init(clientPort: $0.clientPort, bytes: 0, hasEnded: true)
            }
        }
    }
}
