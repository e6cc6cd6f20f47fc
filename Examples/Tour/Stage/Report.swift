// SPDX-License-Identifier: MIT

import Curlew

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Prints the walk, and remembers what was not as expected.
@MainActor
final class Report {
    private var expectations = 0
    private var failures: [String] = []
    private var scene = ""
    private let start = ContinuousClock.now

    func opening(_ setup: String) {
        print(Terminal.bold("A tour of Curlew:"), "a real client, real sockets, and a service on loopback")
        print(Terminal.dim(setup))
    }

    func heading(_ number: Int, _ title: String, _ about: String) {
        scene = title
        print("\n" + Terminal.bold("\(number). \(title)"))
        print("   " + Terminal.dim(about))
    }

    func value(_ label: String, _ text: String) {
        print("      " + Terminal.dim(Terminal.column(label, 15)) + text)
    }

    func error(_ error: NetworkError) {
        value("to the person", [error.message, error.recoverySuggestion].compactMap(\.self).joined(separator: " "))
        let lines = error.description.split(separator: "\n")
        for (index, line) in lines.enumerated() { value(index == 0 ? "to developers" : "", String(line)) }
    }

    func expectation(_ text: String, isMet: Bool) {
        expectations += 1
        guard isMet else { return unexpected("not as expected: \(text)") }
        print("    \(Terminal.green("✓")) \(text)")
    }

    func unexpected(_ text: String) {
        failures.append("\(scene): \(text)")
        print("    \(Terminal.red("✗")) \(text)")
    }

    /// Prints what came of it all and ends the program: with status 0 only if everything was as expected.
    func finish() -> Never {
        let time = Terminal.milliseconds(ContinuousClock.now - start)
        if failures.isEmpty {
            print("\n" + Terminal.green("Everything as expected: \(expectations) checks in \(time)."))
            exit(EXIT_SUCCESS)
        }
        print("\n" + Terminal.red("\(failures.count) of \(expectations) checks failed, in \(time):"))
        for failure in failures { print("  \(failure)") }
        exit(EXIT_FAILURE)
    }
}
