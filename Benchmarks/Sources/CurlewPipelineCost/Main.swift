// SPDX-License-Identifier: MIT

import Foundation

/// `CurlewPipelineCost counter.so` prints what pipelines add to a call that succeeds at once, beside the bare
/// transport.
///
/// It measures in processes of its own: one for the times, one with `counter.so` in LD_PRELOAD for the allocations.
@main
enum Main {
    /// The bars of the standard pipeline, in one warm task.
    private static let most = (microseconds: 4.0, allocations: 8.0)

    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        if arguments.first == "measure" { return try await Measurement().run() }
        guard let counter = arguments.first else {
            print("usage: Scripts/bench pipeline")
            exit(2)
        }
        let times = try measure(environment: [:])
        let allocations =
            FileManager.default.fileExists(atPath: counter) ? try measure(environment: ["LD_PRELOAD": counter]) : []
        print("A GET without a body over MockTransport, without observers; added to the bare transport, per call.\n")
        print("| pipeline | task | µs | mallocs |\n|---|---|---:|---:|")
        var isWithin = true
        for line in times {
            let count = allocations.first { $0.name == line.name && $0.task == line.task }?.allocations
            print("| \(line.name) | \(line.task) | \(text(line.microseconds)) | \(count.map(text) ?? "?") |")
            if line.name.hasPrefix("standard"), line.task == "warm" {
                isWithin = line.microseconds <= most.microseconds && (count ?? 0) <= most.allocations
            }
        }
        print("\nbar: the standard pipeline in a warm task, at most 4 µs and 8 mallocs: \(isWithin ? "met" : "missed")")
    }

    private static func measure(environment: [String: String]) throws -> [Line] {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
        process.arguments = ["measure"]
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return try String(decoding: data, as: UTF8.self).split(separator: "\n").map {
            try JSONDecoder().decode(Line.self, from: Data($0.utf8))
        }
    }

    private static func text(_ number: Double) -> String { String(format: "%.2f", number) }
}

/// What one pipeline adds in one kind of task.
struct Line: Codable {
    let name: String
    let task: String
    let microseconds: Double
    /// Nil without the counter.
    let allocations: Double?
}
