// SPDX-License-Identifier: MIT

import Foundation

/// Prints what retries, budgets and breakers do to a server in trouble, and draws it.
@main
struct Main {
    static func main() async {
        var (seed, quick, path): (UInt64, Bool, String?) = (1, false, nil)
        for argument in CommandLine.arguments.dropFirst() {
            let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
            switch (parts.first, parts.count) {
            case ("--quick", 1): quick = true
            case ("--seed", 2): seed = UInt64(parts[1]) ?? seed
            case ("--svg", 2): path = parts[1]
            default:
                FileHandle.standardError.write(
                    Data("usage: Scripts/bench resilience [--quick] [--seed=1] [--svg=FILE]\n".utf8))
                exit(2)
            }
        }
        var report = Report(seed: seed, quick: quick)
        await report.run()
        print(
            "Simulated: \(quick ? "quickly, not to be quoted" : "in full"), seed \(seed), one call per second and client."
        )
        print(report.description)
        if let path {
            do {
                try Data(Plot(panels: report.panels).svg.utf8).write(to: URL(fileURLWithPath: path))
            } catch {
                print("The plot cannot be written: \(error)")
                exit(1)
            }
        }
        exit(report.isMet ? 0 : 3)
    }
}
