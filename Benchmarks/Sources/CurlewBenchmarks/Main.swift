// SPDX-License-Identifier: MIT

import Foundation

/// `CurlewBenchmarks [options]` measures and prints the tables. What it starts of itself, each in a process of its own:
/// `worker …` is one client, `sink …` the server that uploads go to.
@main
enum Main {
    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            raiseDescriptorLimit()
            switch arguments.first {
            case "worker": try await Worker(arguments: Array(arguments.dropFirst())).run()
            case "sink": try Sink.run()
            default: try Benchmarks(options: Options(arguments)).run()
            }
        } catch {
            FileHandle.standardError.write(Data("benchmarks: \(error)\n".utf8))
            exit(1)
        }
    }

    /// 1024 connections need more descriptors than many systems give at first. What is started inherits it.
    private static func raiseDescriptorLimit() {
        var limit = rlimit()
        #if os(Linux)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
        let resource = RLIMIT_NOFILE
        #endif
        guard getrlimit(resource, &limit) == 0 else { return }
        limit.rlim_cur = min(max(limit.rlim_cur, 16_384), limit.rlim_max)
        setrlimit(resource, &limit)
    }
}

/// An error with a sentence for the person at the terminal.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
