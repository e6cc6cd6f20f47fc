// SPDX-License-Identifier: MIT

// Only there can a test start a process.
#if os(Linux) || os(macOS)
import Dispatch

/// Runs a script by a shell, in a folder of its own. Input and output are files, so that nothing can block on a full
/// pipe.
enum Shell {
    struct Failure: Error {
        let what: String
        let code: Int32
    }

    struct Result: Sendable {
        /// What the script wrote to its standard output.
        let output: Data
        /// The names of the files that it left in its folder.
        let files: [String]
        /// As `waitpid` has it; zero if all is well.
        let status: Int32
    }

    /// The POSIX shell, and bash where there is one.
    static let all: [String] = ["/bin/sh", "/bin/bash"].filter { (path: String) in access(path, X_OK) == 0 }

    /// Waits on a thread of its own: the shell may take seconds, and other tests need the threads of tasks.
    static func run(_ script: String, by shell: String = "/bin/sh") async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(with: Swift.Result { try runAndWait(script, by: shell) })
            }
        }
    }

    private static func runAndWait(_ script: String, by shell: String) throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appending(path: "shell-\(UUID().uuidString)")
        let home = folder.appending(path: "home")
        try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let input = folder.appending(path: "script")
        let output = folder.appending(path: "output")
        try Data(script.utf8).write(to: input)
        let status = try run([
            shell, "-c", "cd \"$3\" && . \"$1\" > \"$2\"", "sh", input.path(), output.path(), home.path(),
        ])
        return Result(
            output: try Data(contentsOf: output),
            files: try FileManager.default.contentsOfDirectory(atPath: home.path()), status: status)
    }

    private static func run(_ words: [String]) throws -> Int32 {
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var process = pid_t()
        let code = posix_spawn(&process, words[0], nil, nil, &arguments, environ)
        guard code == 0 else { throw Failure(what: "spawn", code: code) }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 {
            guard errno == EINTR else { throw Failure(what: "wait", code: errno) }
        }
        return status
    }
}
#endif
