// SPDX-License-Identifier: MIT

package import Foundation

/// Programs of the system that tests need. `Scripts/setup` installs them.
package enum Program {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) { self.description = description }
    }

    /// The path of a program; servers are not on every user's path.
    ///
    /// On a Mac, Homebrew's come first: what the system has under the names of ours is something older or other.
    package static func path(_ name: String) throws -> String {
        let environment = ProcessInfo.processInfo.environment
        let folders = (environment["PATH"] ?? "").split(separator: ":").map(String.init)
        #if os(macOS)
        let first = [(environment["HOMEBREW_PREFIX"] ?? "/opt/homebrew") + "/bin", "/usr/local/bin"]
        #else
        let first: [String] = []
        #endif
        for folder in first + folders + ["/usr/sbin", "/usr/bin", "/bin"] {
            let path = folder + "/" + name
            if FileManager.default.isExecutableFile(atPath: path) { return path }
        }
        throw Failure(description: "\(name) is missing: Scripts/setup installs it, or says how.")
    }

    /// A program of this package, which is built into the folder of the tests.
    package static func built(_ name: String) throws -> String {
        #if os(Linux)
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        #else
        // The tests are a library in a bundle, which some other program has loaded.
        var info = Dl_info()
        guard dladdr(#dsohandle, &info) != 0, let image = info.dli_fname else {
            throw Failure(description: "The folder of the tests is not known.")
        }
        let tests = String(cString: image)
        #endif
        return try beside(tests, name)
    }

    /// The program in the folder of `file`, or in one of the three above that: `x.xctest/Contents/MacOS` on a Mac.
    package static func beside(_ file: String, _ name: String) throws -> String {
        var folder = URL(fileURLWithPath: file).deletingLastPathComponent()
        for _ in 0..<4 {
            let path = folder.appendingPathComponent(name).path
            if FileManager.default.isExecutableFile(atPath: path) { return path }
            folder.deleteLastPathComponent()
        }
        throw Failure(description: "\(name) is not built: swift build makes it.")
    }

    /// The system's interpreter, for which `Scripts/setup` installs modules.
    package static func python() throws -> String {
        let system = "/usr/bin/python3"
        return FileManager.default.isExecutableFile(atPath: system) ? system : try path("python3")
    }

    /// What the program writes when it gets `input`; throws if it fails. Blocks.
    @discardableResult
    package static func run(_ path: String, _ arguments: [String], input: Data = Data(), in folder: String = "/") throws
        -> Data
    {
        let process = try CompanionProcess(path, arguments, in: folder)
        process.write(input)
        let result = process.readToEnd()
        guard process.finish() == 0 else {
            let text = String(decoding: result, as: UTF8.self)
            throw Failure(description: "\(path) \(arguments.joined(separator: " ")) failed: \(text)")
        }
        return result
    }

    /// `data` in a content coding: gzip or deflate.
    package static func encode(_ data: Data, _ coding: String) async throws -> Data {
        try await onThread {
            let folder = try TemporaryFolder()
            let call = coding == "gzip" ? "gzip.compress(data)" : "zlib.compress(data)"
            let script = """
                import sys, gzip, zlib
                data = open(sys.argv[1], "rb").read()
                sys.stdout.buffer.write(\(call))
                """
            return try run(python(), ["-c", script, folder.file("plain", data)])
        }
    }
}

/// Runs blocking work on a thread of its own: tests share few threads, and a blocked one delays all others.
package func onThread<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        startThread { continuation.resume(with: Result(catching: work)) }
    }
}

/// A thread with a small stack: under ThreadSanitizer, the price of a thread is that of its stack.
package func startThread(_ work: @escaping @Sendable () -> Void) {
    let thread = Thread(block: work)
    thread.stackSize = 512 << 10
    thread.start()
}
