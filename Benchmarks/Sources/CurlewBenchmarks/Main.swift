// SPDX-License-Identifier: MIT

import Foundation

/// `CurlewBenchmarks [--json] [--quick]` measures and prints the table;
/// `CurlewBenchmarks worker …` is one client in a process of its own, started by the former.
@main
enum Main {
    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            if arguments.first == "worker" {
                try await Worker(arguments: Array(arguments.dropFirst())).run()
            } else {
                try await Suite(options: Options(arguments)).run()
            }
        } catch {
            FileHandle.standardError.write(Data("benchmarks: \(error)\n".utf8))
            exit(1)
        }
    }
}

/// What the command line asks for.
struct Options {
    var json = false
    /// Two short rounds instead of seven long ones: to see that everything runs, not to quote.
    var quick = false
    var widths = [1, 16, 64, 256]

    init(_ arguments: [String]) throws {
        for argument in arguments {
            switch argument {
            case "--json": json = true
            case "--quick": quick = true
            case _ where argument.hasPrefix("--widths="):
                widths = argument.dropFirst("--widths=".count).split(separator: ",").compactMap { Int($0) }
            default: throw Failure("unknown argument \(argument); known are --json, --quick and --widths=1,16,64,256")
            }
        }
    }

    var rounds: Int { quick ? 2 : 7 }
    var seconds: Double { quick ? 0.5 : 5 }
}

/// An error with a sentence for the person at the terminal.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
