// SPDX-License-Identifier: MIT

import Foundation
import Synchronization

/// Programs that are started, watched and read.
enum Program {
    struct Output {
        var text: String
        /// The most resident memory, in megabytes, seen by looking every ten milliseconds.
        var peakMegabytes: Double
    }

    /// Where a program is; nil when it is not installed. Debian keeps servers where ordinary users do not look.
    static func path(_ name: String) -> String? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        return (folders + ["/usr/sbin", "/usr/local/bin"]).map { "\($0)/\(name)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Runs it to its end, and kills it after `timeout` seconds. Throws the last line of its complaints if it fails.
    static func run(
        _ path: String, _ arguments: [String], environment: [String: String] = [:], in folder: String? = nil,
        timeout: Double = 60
    ) throws -> Output {
        let complaints = FileManager.default.temporaryDirectory.path + "/curlew-bench-\(UUID().uuidString).err"
        let complaintsFile = try emptyFile(complaints)
        defer { try? FileManager.default.removeItem(atPath: complaints) }
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        if let folder { process.currentDirectoryURL = URL(fileURLWithPath: folder) }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = complaintsFile
        try process.run()
        let watch = Watch(process.processIdentifier, until: .now + .seconds(timeout))
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let peak = watch.end()
        guard process.terminationStatus == 0 else {
            let how = process.terminationReason == .exit ? "status" : "signal"
            let text = (try? String(contentsOfFile: complaints, encoding: .utf8)) ?? ""
            let last = text.split(separator: "\n").last.map { ": \($0.prefix(200))" } ?? ""
            throw Failure("ended with \(how) \(process.terminationStatus)\(last)")
        }
        return Output(text: String(decoding: data, as: UTF8.self), peakMegabytes: peak)
    }

    /// The first line of what a program says about its version; nil if it says nothing.
    static func version(_ path: String, _ arguments: [String]) -> String? {
        let text = try? run("/bin/sh", ["-c", "exec \"$0\" \"$@\" 2>&1 || true", path] + arguments, timeout: 10).text
        return text?.split(separator: "\n").first.map(String.init)
    }
}

/// Looks after a program from another thread: how much memory it uses, and that it ends.
private final class Watch: Sendable {
    private struct State {
        var peak = 0.0
        var hasEnded = false
    }

    private let state = Mutex(State())

    init(_ process: Int32, until deadline: ContinuousClock.Instant) {
        Thread.detachNewThread { [self] in
            while !state.withLock({ $0.hasEnded }) {
                let peak = ProcessUsage.memory(of: "\(process)")?.peak ?? 0
                state.withLock { $0.peak = max($0.peak, peak) }
                if ContinuousClock.now > deadline { kill(process, SIGKILL) }
                usleep(10_000)
            }
        }
    }

    func end() -> Double {
        state.withLock { state in
            state.hasEnded = true
            return state.peak
        }
    }
}
