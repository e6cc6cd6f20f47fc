// SPDX-License-Identifier: MIT

#if !canImport(SwiftUI)
import Curlew
import FilmCatalogue

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Prints what a person would see, and remembers what was not as expected.
@MainActor
final class Paper {
    private var checks = 0
    private var failures: [String] = []

    func heading(_ text: String) { print("\n" + Style.bold(text)) }

    func line(_ text: String) { print("    " + text) }

    /// What a screen says in words.
    func says(_ text: String?) { line("“\(text ?? "nothing")”") }

    func film(_ film: Film) {
        let stars = film.averageRating.map { "  ★ \(($0 * 10).rounded() / 10) of \(film.ratingCount)" } ?? ""
        line("\(film.year)  \(film.title)\(stars)")
    }

    func check(_ expectation: String, _ isMet: Bool, _ otherwise: @autoclosure () -> String = "") {
        checks += 1
        if isMet { return line(Style.green("✓ ") + expectation) }
        let text = [expectation, otherwise()].filter { !$0.isEmpty }.joined(separator: ": ")
        failures.append(text)
        line(Style.red("✗ ") + text)
    }

    /// Ends the program, with status 0 only if everything was as expected.
    func finish() -> Never {
        if failures.isEmpty {
            print("\n" + Style.green("Everything as expected: \(checks) checks."))
            exit(EXIT_SUCCESS)
        }
        print("\n" + Style.red("\(failures.count) of \(checks) checks failed:"))
        for failure in failures { print("    " + failure) }
        exit(EXIT_FAILURE)
    }

    /// A line of the client's log.
    @Sendable nonisolated static func log(_ entry: LoggingInterceptor.Entry) {
        print("    " + Style.dim("\(entry)"))
    }
}

/// Colours in a terminal, unless the reader wants none (`NO_COLOR`).
private enum Style {
    static func bold(_ text: String) -> String { styled(text, "1") }
    static func dim(_ text: String) -> String { styled(text, "2") }
    static func red(_ text: String) -> String { styled(text, "31") }
    static func green(_ text: String) -> String { styled(text, "32") }

    private static let isOn =
        isatty(STDOUT_FILENO) == 1 && (ProcessInfo.processInfo.environment["NO_COLOR"] ?? "").isEmpty

    private static func styled(_ text: String, _ code: String) -> String {
        isOn ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}
#endif
