// SPDX-License-Identifier: MIT

import Foundation

/// `CurlewBenchmarks [options]` measures and prints the tables. What it starts of itself, each in a process of its own:
/// `worker …` is one client, `sink` the server that uploads go to. `serve` keeps the servers up, to profile a worker.
@main
enum Main {
    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            raiseDescriptorLimit()
            switch arguments.first {
            case "worker": try await Worker(arguments: Array(arguments.dropFirst())).run()
            case "sink": try Sink.run()
            case "serve": try serve()
            default: try Benchmarks(options: Options(arguments)).run()
            }
        } catch {
            FileHandle.standardError.write(Data("benchmarks: \(error)\n".utf8))
            exit(1)
        }
    }

    /// Prints what a worker needs, and ends with its input.
    private static func serve() throws {
        let server = try Server(room: 4 << 30)
        for size in [200, 20_000, 1_000_000, Work.warmUpSize, 1 << 30] { _ = try server.prepare(size) }
        for (name, value) in server.environment { print("export \(name)=\(value)") }
        print("files=\(server.folder)/files")
        for door in Door.allCases { print("\(door)=\(server.url(door, for: .typed))") }
        print("sink=\(server.url(.plain, for: .upload(0, from: "")))")
        fflush(nil)
        while readLine() != nil {}
        withExtendedLifetime(server) {}
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
