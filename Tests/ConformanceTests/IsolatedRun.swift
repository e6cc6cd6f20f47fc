// SPDX-License-Identifier: MIT

import ConformanceCases
import Testing

/// Cases in a process of their own, for a transport that may not survive them.
///
/// The child writes a line when a case begins and one when it ends. If it dies in between, that case is distinguished
/// from the others, and the rest goes on in another child.
enum IsolatedRun {
    enum Outcome: Equatable, CustomStringConvertible {
        case passed
        case failed(String)
        /// The process ended by a signal, or would not go on.
        case died(String)

        var description: String {
            switch self {
            case .passed: "passed"
            case .failed(let message): message
            case .died(let how): "the process \(how)"
            }
        }
    }

    /// What came of each case, by its name. `child` starts one process for these names and gives what it wrote.
    static func outcomes(
        of names: [String], in child: ([String]) async throws -> String
    ) async throws -> [String: Outcome] {
        var outcomes: [String: Outcome] = [:]
        var left = names
        while !left.isEmpty {
            let before = left.count
            for line in try await child(left).split(separator: "\n") {
                let words = line.split(separator: "\t", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
                guard words.count == 3, left.contains(words[1]) else { continue }
                switch words[0] {
                case "began": outcomes[words[1]] = .died("ended without a word")
                case "passed": outcomes[words[1]] = .passed
                case "failed": outcomes[words[1]] = .failed(words[2])
                case "died": outcomes[words[1]] = .died(words[2])
                default: break
                }
            }
            left.removeAll { outcomes[$0] != nil }
            // A child that does not even begin would be started again forever.
            if left.count == before { break }
        }
        return outcomes
    }

    /// What the child does: the cases one after the other. Ends the process.
    static func run(_ names: [String], on engine: ConformanceEngine, in environment: ConformanceEnvironment) async {
        Self.takeSignals()
        for one in ConformanceSuite.cases where names.contains(one.name) {
            Self.current = Array("\ndied\t\(one.name)\t".utf8)
            write("began", one.name)
            alarm(45)
            do {
                try await one.run(on: engine, in: environment, within: .seconds(20))
                write("passed", one.name)
            } catch {
                write("failed", one.name, "\(error)".replacingOccurrences(of: "\n", with: " "))
            }
        }
        _exit(0)
    }

    private static func write(_ what: String, _ name: String, _ detail: String = "") {
        let line = Array("\n\(what)\t\(name)\t\(detail)\n".utf8)
        _ = Foundation.write(1, line, line.count)
    }

    /// Written by the signal handler, which may not allocate. Changed between cases only.
    nonisolated(unsafe) private static var current: [UInt8] = []

    /// A process that ends by a signal would fail the exit test; this one says so and ends as if content.
    private static func takeSignals() {
        for number in [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGALRM] {
            signal(number) { number in
                IsolatedRun.current.withUnsafeBytes { _ = Foundation.write(1, $0.baseAddress, $0.count) }
                let how: StaticString = number == SIGALRM ? "hung\n" : "crashed\n"
                _ = Foundation.write(1, how.utf8Start, how.utf8CodeUnitCount)
                _exit(0)
            }
        }
    }
}
