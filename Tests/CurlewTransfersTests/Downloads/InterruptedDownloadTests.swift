// SPDX-License-Identifier: MIT

import CurlewTransfers
import TestServers
import Testing

/// Downloads that end at a random byte and are continued by a second call: the file is the one that the server has then,
/// or the call fails and there is no file under the name.
@Suite(.timeLimit(.minutes(1)))
struct InterruptedDownloadTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// How the first call ends.
    enum Interruption: CaseIterable, Sendable {
        case lost, timedOut, endsEarly, refused, cancelled
    }

    /// What happens to the file before the second call.
    enum Change: CaseIterable, Sendable {
        case none, sameLength, shorter, longer
        /// The server sends the rest of the new file although its entity tag is another one.
        case ignoresCondition
        /// The same, without any entity tag.
        case ignoresConditionWithoutTag
        /// The file is gone, and so is every partial file of it.
        case gone
    }

    private static let size = 300_000

    @Test("The second call saves the current file, or none", arguments: Interruption.allCases, Change.allCases)
    func interrupted(interruption: Interruption, change: Change) async throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        for round in 0..<4 {
            let path = folder.appendingPathComponent("film-\(round).mp4").path
            let server = RangeServer(RangeServer.bytes(Self.size, &random))
            await interrupt(server, interruption, at: Int.random(in: 1..<Self.size, using: &random), path)
            #expect(!FileManager.default.fileExists(atPath: path))
            apply(change, to: server, &random)
            let result = await Task { try await server.client().download(Self.film, to: path) }.result
            let saved = try? Data(contentsOf: URL(fileURLWithPath: path))
            switch change {
            case .gone:
                #expect(throws: NetworkError.self) { try result.get() }
                #expect(saved == nil, "round \(round) of seed \(seed)")
            default:
                #expect(throws: Never.self) { try result.get() }
                #expect(saved == server.state.withLock { $0.content }, "round \(round) of seed \(seed)")
            }
            if change == .none {
                #expect(server.sent <= Self.size + 65_536, "each byte is received once, and one buffer more")
            }
        }
        let left = try folder.names
        #expect(left.allSatisfy { $0.hasSuffix(".mp4") }, "\(left)")
    }

    private static let film = Request<Data>.get("/film")

    /// Lets a download end after `bytes` bytes.
    private func interrupt(_ server: RangeServer, _ interruption: Interruption, at bytes: Int, _ path: String) async {
        server.state.withLock { state in
            state.cuts = [bytes] + Array(repeating: 0, count: 8)
            switch interruption {
            case .lost: break
            case .cancelled: state.cut = .waits
            case .timedOut: state.cut = .fails(NetworkError(.timedOut(.idle)))
            case .endsEarly: state.cut = .endsEarly
            case .refused:
                state.onRequest = { if $0.requests.count == 2 { $0.replies = [HTTPResponse(status: .forbidden)] } }
            }
        }
        let client = server.client()
        await withTaskGroup(of: Void.self) { group in
            let (waiting, wait) = AsyncStream.makeStream(of: Void.self)
            server.state.withLock { $0.onWait = { wait.yield() } }
            group.addTask {
                _ = try? await client.download(Self.film, to: path)
                wait.finish()
            }
            for await _ in waiting { group.cancelAll() }
        }
        server.state.withLock { state in
            state.cuts = []
            state.onRequest = nil
        }
    }

    private func apply(_ change: Change, to server: RangeServer, _ random: inout SeededGenerator) {
        let length =
            switch change {
            case .shorter: Int.random(in: 1..<Self.size, using: &random)
            case .longer: Self.size + Int.random(in: 1...Self.size, using: &random)
            default: Self.size
            }
        let content = RangeServer.bytes(length, &random)
        server.state.withLock { state in
            guard change != .none else { return }
            state.content = content
            state.tag = "\"v2\""
            switch change {
            case .gone: state.replies = [HTTPResponse(status: .notFound)]
            case .ignoresCondition: state.ignoresCondition = true
            case .ignoresConditionWithoutTag: (state.ignoresCondition, state.tag) = (true, nil)
            default: break
            }
        }
    }
}
