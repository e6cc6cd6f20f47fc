// SPDX-License-Identifier: MIT

package import CurlewSampleAPI

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Prints what there is to see, and remembers what was not as expected.
@MainActor
package final class Report {
    private var failures = 0

    /// Starts the sample service in this process, visits it, and ends the program: with status 0 only if everything was
    /// as expected.
    package static func run(_ visit: @MainActor (Report, SampleAPI) async throws -> Void) async -> Never {
        let report = Report()
        do {
            let api = try SampleAPI()
            defer { api.stop() }
            try await visit(report, api)
        } catch {
            report.unexpected(error)
        }
        report.finish()
    }

    package func title(_ text: String) {
        print("\n\(text)")
    }

    package func show(_ label: String, _ text: String) {
        print("  \(label.padded(to: 20))\(text)")
    }

    package func expect(_ isMet: Bool, _ what: String) {
        if !isMet { failures += 1 }
        print("  \(isMet ? "as expected:" : "NOT AS EXPECTED:") \(what)")
    }

    private func unexpected(_ error: any Error) {
        failures += 1
        print("  NOT EXPECTED: \(error)")
    }

    private func finish() -> Never {
        print(failures == 0 ? "\nEverything as expected." : "\nNot as expected: \(failures)")
        exit(failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE)
    }
}

extension String {
    package func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(1, width - count))
    }
}
