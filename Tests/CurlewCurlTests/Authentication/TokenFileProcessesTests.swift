// SPDX-License-Identifier: MIT

import CurlewAuthentication
import Testing

/// Command lines that share a token file.
@Suite(.timeLimit(.minutes(5)), .serialized)
struct TokenFileProcessesTests {
    /// A server with rotation and reuse detection. A refresh token that comes twice is a violation, but for one case:
    /// the process that presented it first was killed, and the response is lost. Servers with a grace period
    /// give the same tokens again then.
    private final class Service: Sendable {
        struct State {
            var generation = 0
            var isValid = true
            var presenters: [String: [String]] = [:]
            var victim: String?
            var violations: [String] = []
        }

        let server: MockServer
        let state = Locked(State())

        init() throws {
            server = try MockServer()
            let state = state
            server.on(.get, "/me") { request in
                let isGood = state.withLock {
                    $0.isValid && request.headers[.authorization] == "Bearer a\($0.generation)"
                }
                return isGood ? .status(.ok) : .status(.unauthorized)
            }
            server.on(.post, "/refresh") { request in
                let (token, process) = (request.headers["X-Refresh"] ?? "", request.headers["X-Process"] ?? "")
                let answer = state.withLock { state -> Tokens? in
                    let earlier = state.presenters[token] ?? []
                    state.presenters[token] = earlier + [process]
                    if token == "r\(state.generation)" {
                        state.generation += 1
                        state.isValid = true
                        return Self.tokens(state.generation)
                    }
                    guard token == "r\(state.generation - 1)", earlier == [state.victim], process != state.victim else {
                        state.violations.append("\(process) presents \(token) after \(earlier)")
                        return nil
                    }
                    return Self.tokens(state.generation)
                }
                guard let answer else { return AccountService.invalidGrant }
                return .json(text: String(decoding: try JSONEncoder().encode(answer), as: UTF8.self))
                    .delayed(by: .milliseconds(5))
            }
        }

        static func tokens(_ generation: Int) -> Tokens {
            Tokens(accessToken: "a\(generation)", refreshToken: "r\(generation)")
        }
    }

    /// The programs beside the tests.
    private static func probe() throws -> String {
        let program = try #require(try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
        let folder = URL(fileURLWithPath: program).deletingLastPathComponent()
        let path = folder.appendingPathComponent("TokenFileProbe").path
        try #require(FileManager.default.isExecutableFile(atPath: path), "build TokenFileProbe first: swift build")
        return path
    }

    @Test("Two processes meet ended tokens forty times, some are killed: one refresh each time")
    func forty() async throws {
        let (folder, service, probe) = (try TemporaryFolder(), try Service(), try Self.probe())
        let path = folder.path + "/tokens.json"
        try await TokenStore(.file(path)).signIn(Service.tokens(0))
        var random = SeededGenerator(seed: 7)
        var (killed, again) = (0, 0)
        for round in 1...40 {
            let victim = [nil, "one", "other"].randomElement(using: &random) ?? nil
            service.state.withLock { ($0.isValid, $0.victim, $0.presenters) = (false, victim, [:]) }
            let names = ["one", "other"]
            let processes = try names.map { name in
                let time = victim == name ? Int.random(in: 0..<25, using: &random) : -1
                return try CompanionProcess(probe, [path, service.server.url, name, "5", "\(time)"])
            }
            for process in processes {
                let line = try await onThread { process.readLine() }
                #expect(line == "ready a\(round - 1)", "round \(round)")
            }
            for process in processes { process.write(Data()) }
            for (name, process) in zip(names, processes) {
                let (text, status) = try await onThread {
                    (String(decoding: process.readToEnd(), as: UTF8.self), process.finish())
                }
                if name == victim, status & 0x7F == SIGKILL {
                    killed += 1
                } else {
                    #expect(text == "fine\n", "round \(round)")
                }
            }
            let state = service.state.withLock { $0 }
            again += state.presenters.values.count { $0.count > 1 }
            #expect(state.violations.isEmpty, "round \(round): \(state.violations)")
            #expect(state.generation == round, "round \(round): the tokens were renewed \(state.presenters)")
            #expect(try await TokenStore.FilePersistence(path).load() == Service.tokens(round), "round \(round)")
        }
        #expect(killed > 0)
        // What the killed have left beside the file goes with the sign-out, but for empty locks that are free.
        try await TokenStore(.file(path)).signOut()
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(Set(left).isSubset(of: ["tokens.json.renewal"]), "\(left)")
        print("TokenFileProcesses: \(killed) killed, \(again) of them between the server's exchange and the file")
    }
}
