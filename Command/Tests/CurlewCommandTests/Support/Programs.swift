// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import CurlewCommand

/// Programs of the system that tests need, and the command itself.
enum Program {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    static func path(_ name: String) throws -> String {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        for folder in folders + ["/usr/bin", "/bin"] {
            let path = folder + "/" + name
            if FileManager.default.isExecutableFile(atPath: path) { return path }
        }
        throw Failure(description: "\(name) is missing: Scripts/setup installs it, or says how.")
    }

    /// The system's interpreter, for which `Scripts/setup` installs modules.
    static func python() throws -> String {
        let system = "/usr/bin/python3"
        return FileManager.default.isExecutableFile(atPath: system) ? system : try path("python3")
    }

    /// The command, which is built into the folder of the tests.
    static func command() throws -> String {
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
        var folder = URL(fileURLWithPath: tests).deletingLastPathComponent()
        for _ in 0..<4 {
            let path = folder.appendingPathComponent("CurlewCommand").path
            if FileManager.default.isExecutableFile(atPath: path) { return path }
            folder.deleteLastPathComponent()
        }
        throw Failure(description: "The command is not built: swift build makes it.")
    }

    /// Returns what the program writes when it receives `input`. Throws if it fails. Blocks.
    @discardableResult
    static func run(_ path: String, _ arguments: [String], input: Data = Data(), in folder: String = "/") throws -> Data
    {
        let process = try CompanionProcess(path, arguments, in: folder)
        process.write(input)
        let output = process.readToEnd()
        guard process.finish() == 0 else {
            throw Failure(description: "\(path) failed: \(String(decoding: output, as: UTF8.self))")
        }
        return output
    }
}

/// A program with a pipe to its input and one from its outputs. It ends at the end of its input, which comes with this
/// object or with the test process.
///
/// Not Foundation's `Process`: children that are started at the same time inherit each other's descriptors there. Here
/// a child receives three descriptors and no more.
final class CompanionProcess: Sendable {
    private let process: pid_t
    private let input: FileHandle
    private let output: FileHandle

    init(_ path: String, _ arguments: [String], in folder: String = "/") throws {
        let (input, output) = (Pipe(), Pipe())
        #if canImport(Darwin)
        var (actions, attributes): (posix_spawn_file_actions_t?, posix_spawnattr_t?) = (nil, nil)
        let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_CLOEXEC_DEFAULT
        #else
        let flags = POSIX_SPAWN_SETSIGMASK
        var (actions, attributes) = (posix_spawn_file_actions_t(), posix_spawnattr_t())
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input.fileHandleForReading.fileDescriptor, 0)
        posix_spawn_file_actions_adddup2(&actions, output.fileHandleForWriting.fileDescriptor, 1)
        posix_spawn_file_actions_adddup2(&actions, output.fileHandleForWriting.fileDescriptor, 2)
        #if !canImport(Darwin)
        // Closing what is not open is no error on Linux.
        for other: Int32 in 3..<1024 { posix_spawn_file_actions_addclose(&actions, other) }
        #endif
        // Threads of Swift's pool let no signal through, and children inherit that.
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(flags))
        var words =
            (["/bin/sh", "-c", "cd \"$0\" && exec \"$@\"", folder, path] + arguments).map { strdup($0) } + [nil]
        var variables = ProcessInfo.processInfo.environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in words + variables { free(text) } }
        var process: pid_t = 0
        let code = posix_spawn(&process, "/bin/sh", &actions, &attributes, &words, &variables)
        guard code == 0 else { throw Program.Failure(description: "\(path): \(String(cString: strerror(code)))") }
        try input.fileHandleForReading.close()
        try output.fileHandleForWriting.close()
        self.process = process
        self.input = input.fileHandleForWriting
        self.output = output.fileHandleForReading
    }

    deinit {
        try? input.close()
        try? output.close()
    }

    /// Gives the program all the input it receives.
    func write(_ bytes: Data) {
        try? input.write(contentsOf: bytes)
        try? input.close()
    }

    /// Returns the first line that the program writes, or what it wrote before it ended. Blocks.
    func readLine() -> String {
        var line = Data()
        while let byte = try? output.read(upToCount: 1), byte.count == 1, byte != Data("\n".utf8) { line += byte }
        return String(decoding: line, as: UTF8.self)
    }

    /// Returns everything that the program writes. Blocks.
    func readToEnd() -> Data { (try? output.readToEnd()) ?? Data() }

    func kill() { Foundation.kill(process, SIGKILL) }

    /// Waits for the end of the program, and returns its status.
    func finish() -> Int32 {
        var status: Int32 = -1
        waitpid(process, &status, 0)
        return status
    }
}

/// Runs blocking work on a separate thread: tests share few threads, and a blocked one delays all others.
func onThread<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread { continuation.resume(with: Result(catching: work)) }.start()
    }
}

/// Asks again, without holding a thread, until `condition` is true; false if it is not within half a minute.
func eventually(_ condition: () -> Bool) async -> Bool {
    let end = ContinuousClock.now + .seconds(30)
    while !condition() {
        if ContinuousClock.now > end { return false }
        await Task.yield()
    }
    return true
}

/// Returns the words of a command as a shell splits them.
func shellWords(_ text: String) async throws -> [String] {
    let bash = try Program.path("bash")
    let output = try await onThread { try Program.run(bash, ["-c", "printf '%s\\0' \(text)"]) }
    return String(decoding: output, as: UTF8.self).split(separator: "\0", omittingEmptySubsequences: false).dropLast()
        .map(String.init)
}

/// A folder that goes with the last reference to it.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("curlew-tests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Writes a file and returns its path.
    func file(_ name: String, _ content: Data) throws -> String {
        let file = path + "/" + name
        try content.write(to: URL(fileURLWithPath: file))
        return file
    }

    func file(_ name: String, _ content: String) throws -> String { try file(name, Data(content.utf8)) }

    var names: [String] { get throws { try FileManager.default.contentsOfDirectory(atPath: path) } }
}
