// SPDX-License-Identifier: MIT

import Testing

/// Very many calls over connections of HTTP/1.1 on which a hostile server writes what belongs to no request, at random
/// moments: no call gets a response that is not its own.
@Suite(.timeLimit(.minutes(15)))
struct DesyncTests {
    @Test("No call is served by what a hostile server wrote before the call began")
    func desync() async throws {
        let (calls, seed) = Abuse.desync
        print("desync seed \(seed)")
        try await Desync(seed: seed).run(calls: calls)
    }
}

/// Rounds of calls, each of which knows its own response.
///
/// First as many calls as connections: the server answers them when all have arrived, most with a surplus. When all
/// that it wrote has reached the client, it writes to idle connections and resets those of the calls that it has not
/// answered. When that has arrived too, a few calls more follow, and the ones that were reset come again. In half of
/// the rounds the engine stands still in the meantime, so all of it meets it in one turn.
///
/// So whatever belongs to no request is in the client's system before the next request begins on that connection. Bytes
/// that come later are the response by HTTP/1.1, whatever they say; there is no test of these.
private struct Desync {
    /// How a call has ended.
    private enum Ending {
        case right
        case failed(String)
        case wrong(String)
    }

    let seed: UInt64
    private let server: DesyncServer
    private let hold: LoopHold
    private let transport = CurlTransport(
        configuration: TransportConfiguration(pool: TransportConfiguration.Pool(perHost: 64)),
        options: CurlTransport.Options(eventLoops: 1))

    init(seed: UInt64) throws {
        self.seed = seed
        server = try DesyncServer()
        hold = try LoopHold(transport)
    }

    func run(calls: Int) async throws {
        var generator = SeededGenerator(seed: seed)
        var sockets = ClientSockets(to: server.port)
        var (count, round, failures) = (0, 0, [String: Int]())
        var wrong: [String] = []
        let start = ContinuousClock.now
        let allowed: Set<String> = ["badResponse", "connectionLost"]
        // One wrong response is enough: those after it may only follow from it.
        while count < calls, wrong.isEmpty, allowed.isSuperset(of: failures.keys) {
            round += 1
            for (id, ending) in try await endings(ofRound: round, &sockets, &generator) {
                count += 1
                switch ending {
                case .right: break
                case .failed(let reason): failures[reason, default: 0] += 1
                case .wrong(let answer): wrong.append("\(id) got \(answer)")
                }
            }
        }
        let failed = failures.values.reduce(0, +)
        print(
            "desync: \(count) calls in \(round) rounds, \(wrong.count) wrong answers, \(failed) failures \(failures), "
                + "\(server.connectionCount) connections, \(ContinuousClock.now - start)")
        #expect(wrong.isEmpty, "seed \(seed): \(wrong.prefix(5).joined(separator: "; "))")
        // Those are the bodies that break off within their coding, and a few on which a connection ended.
        #expect(failed < count / 3)
        #expect(allowed.isSuperset(of: failures.keys))
        await transport.shutdown()
    }

    private func endings(
        ofRound round: Int, _ sockets: inout ClientSockets, _ generator: inout SeededGenerator
    ) async throws -> [(String, Ending)] {
        var answers: [String: HostileAnswer] = [:]
        let ids = (0..<Int.random(in: 1...40, using: &generator)).map { "\(round)-\($0)" }
        for id in ids { answers[id] = .random(&generator) }
        server.begin(answers)
        var tasks = ids.map { ($0, call($0, answers[$0] ?? HostileAnswer())) }
        var endings: [(String, Ending)] = []
        let dropped = tasks.filter { answers[$0.0]?.isDropped == true }
        for (id, task) in tasks where answers[id]?.isDropped != true { endings.append((id, await task.value)) }
        guard await eventually({ server.hasAnswered(allBut: dropped.count) }) else {
            throw NetworkError(.timedOut(.total), detail: "The server has not written its answers.")
        }
        try await wait(for: server.written, &sockets)

        let isHeld = Bool.random(using: &generator)
        if isHeld { await hold.begin() }
        defer { hold.end() }
        // A call that is reset looks for another connection at once, unless the transport stands still.
        let dropsFirst = isHeld && Bool.random(using: &generator)
        if dropsFirst { try await wait(for: server.drop(), &sockets) }
        try await wait(for: server.strike(&generator), &sockets)
        if !dropsFirst {
            let written = server.drop()
            if isHeld { try await wait(for: written, &sockets) }
        }
        tasks = dropped
        for index in 0..<Int.random(in: 0..<10, using: &generator) {
            let id = "\(round)-late-\(index)"
            tasks.append((id, call(id, HostileAnswer())))
        }
        hold.end()
        for (id, task) in tasks { endings.append((id, await task.value)) }
        return endings
    }

    /// Returns when the client's system has these bytes and ends.
    private func wait(for written: [ClientSockets.Written], _ sockets: inout ClientSockets) async throws {
        guard await sockets.haveReceived(written) else {
            throw NetworkError(.timedOut(.total), detail: "What the server wrote does not reach the client.")
        }
    }

    /// Begins at once: it has a place in the transport when this returns.
    private func call(_ id: String, _ answer: HostileAnswer) -> Task<Ending, Never> {
        let method: HTTPMethod = answer.framing == .head ? .head : .get
        return Task(executorPreference: InlineExecutor()) {
            defer { server.noteEnd(id) }
            do {
                let response = try await transport.exchange(
                    method, server.url + "/" + id, timeouts: Timeouts(firstByte: .seconds(20)))
                let found = (response.headers["X-Id"] ?? "no id", try await response.text())
                let isRight = found.0 == id && (found.1 == id || (found.1.isEmpty && !answer.framing.hasBody))
                return isRight ? .right : .wrong("\(found.0), \"\(found.1.prefix(40))\" (\(answer))")
            } catch {
                switch NetworkError(error).reason {
                case .connectionLost: return .failed("connectionLost")
                case let reason: return .failed("\(reason)")
                }
            }
        }
    }
}
