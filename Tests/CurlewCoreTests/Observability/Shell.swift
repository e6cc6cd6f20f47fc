// SPDX-License-Identifier: MIT

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Runs a script by the POSIX shell. Input and output are files, so that nothing can block on a full pipe.
enum Shell {
    struct Failure: Error {
        let what: String
        let code: Int32
    }

    static func output(of script: String) throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(path: "shell-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let input = folder.appending(path: "script")
        let result = folder.appending(path: "output")
        try Data(script.utf8).write(to: input)
        try run(["/bin/sh", "-c", ". \"$1\" > \"$2\"", "sh", input.path(), result.path()])
        return String(decoding: try Data(contentsOf: result), as: UTF8.self)
    }

    private static func run(_ words: [String]) throws {
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var process = pid_t()
        let code = posix_spawn(&process, words[0], nil, nil, &arguments, environ)
        guard code == 0 else { throw Failure(what: "spawn", code: code) }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 {
            guard errno == EINTR else { throw Failure(what: "wait", code: errno) }
        }
        guard status == 0 else { throw Failure(what: "exit", code: status) }
    }
}
