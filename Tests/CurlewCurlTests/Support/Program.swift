// SPDX-License-Identifier: MIT

import Foundation

/// Programs of the system that tests need. `Scripts/setup` installs them.
enum Program {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The path of a program; servers are not on everybody's path.
    static func path(_ name: String) throws -> String {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        for folder in folders + ["/usr/sbin", "/usr/bin", "/bin"] {
            let path = folder + "/" + name
            if FileManager.default.isExecutableFile(atPath: path) { return path }
        }
        throw Failure(description: "\(name) is missing: run Scripts/setup, which installs it.")
    }

    /// The system's interpreter, for which `Scripts/setup` installs modules.
    static func python() throws -> String {
        let system = "/usr/bin/python3"
        return FileManager.default.isExecutableFile(atPath: system) ? system : try path("python3")
    }

    /// What the program writes when it gets `input`; throws if it fails.
    @discardableResult
    static func run(_ path: String, _ arguments: [String], input: Data = Data(), in folder: String? = nil) throws
        -> Data
    {
        let process = Process()
        let (standardInput, output) = (Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        if let folder { process.currentDirectoryURL = URL(fileURLWithPath: folder) }
        process.standardInput = standardInput
        process.standardOutput = output
        process.standardError = output
        try process.run()
        Thread {
            try? standardInput.fileHandleForWriting.write(contentsOf: input)
            try? standardInput.fileHandleForWriting.close()
        }.start()
        let result = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            let text = String(decoding: result, as: UTF8.self)
            throw Failure(description: "\(path) \(arguments.joined(separator: " ")) failed: \(text)")
        }
        return result
    }

    /// `data` in a content coding: gzip or deflate.
    static func encode(_ data: Data, _ coding: String) throws -> Data {
        let call = coding == "gzip" ? "gzip.compress(data)" : "zlib.compress(data)"
        let script = "import sys, gzip, zlib; data = sys.stdin.buffer.read(); sys.stdout.buffer.write(\(call))"
        return try run(python(), ["-c", script], input: data)
    }
}
