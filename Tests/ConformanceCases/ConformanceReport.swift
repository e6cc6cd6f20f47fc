// SPDX-License-Identifier: MIT

/// A Markdown report of the suite, with the requirements, their sources, and the known deviations.
public enum ConformanceReport {
    /// The report as a page in Markdown.
    public static var markdown: String {
        ([introduction] + [deviations] + ConformanceCase.Group.allCases.map(section)).joined(separator: "\n")
    }

    private static var introduction: String {
        """
        # Conformance

        What every engine has to do alike, as \(ConformanceSuite.cases.count) cases in `Tests/ConformanceCases`. This page
        is made from them and checked by a test;
        `CURLEW_UPDATE_DOCUMENTATION=1 swift test --filter ConformanceTests` writes it.

        | engine | cases | known to differ | how they are run |
        |---|---|---|---|
        \(rows.joined(separator: "\n"))

        A case that is marked *message* applies to everything that answers messages, `MockTransport` included; the others
        need a wire. Servers: `MockServer` in each case, and for TLS, HTTP/2 and proxies those that the *needs* name. They
        are started by the program around the suite (`ConformanceEnvironment`); a case without its server fails and names it.

        Your own transport: make a `ConformanceEngine` of it, and run the cases as `CurlConformanceTests` does.

        """
    }

    private static var rows: [String] {
        let wire = ConformanceSuite.cases.count
        let message = ConformanceSuite.cases.count { $0.scope == .message }
        let engines = [
            ("curl", wire, "one after the other, in one process"),
            ("MockTransport", message, "in one process"),
            ("URLSession", wire, "on Linux, each group in child processes"),
            ("URLSession on Apple", wire, "on a Mac, likewise; run on a model only, so this says what is expected"),
        ]
        return engines.map { name, count, how in
            "| \(name) | \(count) | \(ConformanceSuite.deviations.count { $0.engine == name }) | \(how) |"
        }
    }

    private static var deviations: String {
        var lines = ["## What is known to differ", ""]
        var seen: Set<String> = []
        for deviation in ConformanceSuite.deviations {
            if seen.insert(deviation.engine + deviation.reason).inserted {
                if seen.count > 1 { lines.append("") }
                lines += wrapped("**\(deviation.engine)**, \(deviation.kind.rawValue): \(deviation.reason)", "") + [""]
            }
            lines += wrapped(deviation.caseName, "- ")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func section(_ group: ConformanceCase.Group) -> String {
        let rows = ConformanceSuite.cases(of: group).map { one in
            let needs = one.needs.map(\.rawValue).sorted().joined(separator: ", ")
            let scope = one.scope == .message ? "message" : "wire"
            return "| \(one.name.replacing("|", with: "\\|")) | \(scope) | \(needs) | \(one.rule) |"
        }
        return
            (["## \(group.rawValue)", "", "| what is expected | scope | needs | rule |", "|---|---|---|---|"] + rows)
            .joined(separator: "\n") + "\n"
    }

    /// Returns the lines of `text`, wrapped at 120 columns like the other pages of the documentation. The first line
    /// begins with `mark`.
    private static func wrapped(_ text: String, _ mark: String) -> [String] {
        var lines: [String] = []
        var line = mark
        for word in text.split(separator: " ") {
            if line.count + word.count > 119, line != mark {
                lines.append(line)
                line = String(repeating: " ", count: mark.count) + word
            } else {
                line += line.isEmpty || line == mark ? "\(word)" : " \(word)"
            }
        }
        return lines + [line]
    }
}
