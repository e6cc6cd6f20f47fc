// SPDX-License-Identifier: MIT

package import Curlew
package import CurlewSampleAPI

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Prints the results, checks what must hold, and reports at the end what did not.
@MainActor
package final class Report {
    private var checks = 0
    private var failures: [String] = []
    private var title = ""

    package init() {}

    /// Starts the sample service in this process, visits it, and ends the program: with status 0 only if all checks
    /// held.
    package static func run(_ visit: @MainActor (Report, SampleAPI) async throws -> Void) async -> Never {
        let report = Report()
        do {
            let api = try SampleAPI()
            defer { api.stop() }
            try await visit(report, api)
        } catch {
            report.fail("an error that nothing handles: \(error)")
        }
        report.finish()
    }

    /// The first line: what this is, and where it is played.
    package func opening(_ name: String, _ about: String, _ place: String) {
        print(Look.bold(name) + ": " + about)
        for line in place.isEmpty ? [] : Look.wrapped(place, to: Look.columns) { print(Look.dim(line)) }
    }

    package func title(_ text: String, _ about: String = "") {
        title = text
        print("\n" + Look.bold(text))
        for line in about.isEmpty ? [] : Look.wrapped(about, to: Look.columns - 2) { print("  " + Look.dim(line)) }
    }

    package func show(_ label: String, _ text: String) {
        for line in Look.value(label, text) { print(line) }
    }

    /// Both texts of an error.
    package func show(_ error: NetworkError) {
        show("for the person", [error.message, error.recoverySuggestion].compactMap(\.self).joined(separator: " "))
        // Its values begin in the thirteenth column.
        let lines = Look.wrapped(error.description, to: Look.columns - Look.margin, hanging: 12)
        show("for developers", lines.joined(separator: "\n"))
    }

    package func line(_ text: String) {
        for line in Look.wrapped(text, to: Look.columns - 4) { print("    " + line) }
    }

    /// What a screen says in words.
    package func says(_ text: String?) { line("“\(text ?? "nothing")”") }

    /// Checks what must hold. If it does not, the program goes on and fails at its end.
    package func expect(_ isMet: Bool, _ what: String) {
        checks += 1
        guard isMet else { return fail(what) }
        for (index, line) in Look.wrapped(what, to: Look.columns - 4).enumerated() {
            print((index == 0 ? "  \(Look.green("✓")) " : "    ") + line)
        }
    }

    /// Waits until `condition` is true, at most 20 seconds, and reports the failure if it is not.
    package func wait(_ what: String, until condition: @MainActor () -> Bool) async {
        let end = ContinuousClock.now + .seconds(20)
        while !condition() {
            guard ContinuousClock.now < end else { return fail("not within 20 seconds: \(what)") }
            try? await Task.sleep(for: .milliseconds(5))
        }
    }

    /// For places that are not reached when all is well.
    package func fail(_ text: String) {
        failures.append("\(title): \(text)")
        print("  \(Look.red("✗")) \(text)")
    }

    /// Prints what came of it all and ends the program.
    package func finish() -> Never {
        if failures.isEmpty {
            print("\n" + Look.green("All \(checks) checks hold."))
            exit(EXIT_SUCCESS)
        }
        print("\n" + Look.red("\(failures.count) of \(max(checks, failures.count)) checks failed:"))
        for failure in failures { print("  " + failure) }
        exit(EXIT_FAILURE)
    }
}
