// SPDX-License-Identifier: MIT

// Only there can a test start a process.
#if os(Linux) || os(macOS)
import ConformanceCases
import CurlewURLSession
import TestServers
import Testing

/// Every case on the system's URLSession, which may crash or block its process: so in children, a group in each.
///
/// What is not listed as a deviation has to pass, and what is listed must not, unless it may. A Mac need not have all
/// servers: cases that miss theirs are left out, and named.
@Suite(.timeLimit(.minutes(3)))
struct URLSessionConformanceTests {
    private static let known = ConformanceSuite.deviations(of: .urlSession)

    @Test("URLSessionTransport conforms, but for the listed deviations", arguments: ConformanceCase.Group.allCases)
    func conforms(_ group: ConformanceCase.Group) async throws {
        let servers = try await ConformanceServers.shared()
        let cases = ConformanceSuite.cases(of: group).filter { Self.known[$0.name]?.kind != .endsProcess }
        let names = cases.filter(servers.areReady).map(\.name)
        let missing = servers.missing.joined(separator: "; ")
        for one in cases where !servers.areReady(for: one) { print("left out: \(one.name) (\(missing))") }
        let outcomes = try await outcomes(of: names)
        for name in names {
            let outcome = try #require(outcomes[name], "\(name) was not run")
            switch Self.known[name]?.kind {
            case nil: #expect(outcome == .passed, "\(name): \(outcome)")
            case .fails: #expect(outcome != .passed, "\(name): passes now, so it is no deviation any more")
            case .mayFail, .endsProcess: print("recorded: \(name): \(outcome)")
            }
            // What a deviation looks like there is not known yet.
            if ConformanceServers.arePartial, Self.known[name]?.kind == .fails {
                print("recorded: \(name): \(outcome)")
            }
        }
    }

    @Test("A case that can end the process runs alone, and its outcome is recorded")
    func recorded() async throws {
        for (name, deviation) in Self.known.sorted(by: { $0.key < $1.key }) where deviation.kind == .endsProcess {
            let outcome = try #require(try await outcomes(of: [name])[name], "\(name) was not run")
            print("recorded: \(name): \(outcome)")
        }
    }

    private func outcomes(of names: [String]) async throws -> [String: IsolatedRun.Outcome] {
        let environment = try await ConformanceServers.shared().environment
        return try await IsolatedRun.outcomes(of: names) { names in
            let result = try await #require(
                processExitsWith: .success, observing: [\.standardOutputContent]
            ) { [names = names as [String], environment = environment as ConformanceEnvironment] in
                await IsolatedRun.run(names, on: .urlSession, in: environment)
            }
            return String(decoding: result.standardOutputContent, as: UTF8.self)
        }
    }
}

extension ConformanceEngine {
    #if canImport(Darwin)
    private static let systemName = "URLSession on Apple"
    #else
    private static let systemName = "URLSession"
    #endif

    static let urlSession = ConformanceEngine(systemName) {
        URLSessionTransport(configuration: $0)
    } shutDown: { transport, mode in
        await transport.shutdown(mode)
    }
}
#endif
