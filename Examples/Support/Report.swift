// SPDX-License-Identifier: MIT

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

    package init() {}

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

    package func unexpected(_ error: any Error) {
        failures += 1
        print("  NOT EXPECTED: \(error)")
    }

    /// Ends the program: with status 0 only if everything was as expected.
    package func finish() -> Never {
        print(failures == 0 ? "\nEverything as expected." : "\nNot as expected: \(failures)")
        exit(failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE)
    }
}

extension String {
    package func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(1, width - count))
    }
}
