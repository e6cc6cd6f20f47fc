// SPDX-License-Identifier: MIT

#if !canImport(SwiftUI)
import Foundation

package struct ProgramFailure: Error, CustomStringConvertible {
    package let description: String
}

/// The app with this name, which is built beside the tests.
package func builtProgram(_ name: String) throws -> String {
    let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let program = URL(fileURLWithPath: tests).deletingLastPathComponent().appendingPathComponent(name).path
    guard FileManager.default.isExecutableFile(atPath: program) else {
        throw ProgramFailure(description: "there is no \(program): build it first")
    }
    return program
}

/// Runs a program without input, for half a minute at most; its status, and what it wrote to either output.
///
/// Not Foundation's `Process`: its children inherit the descriptor that reports their end, and the server that the
/// first tmux leaves behind would keep that open. A child here has three descriptors.
package func runProgram(_ words: [String]) throws -> (status: Int32, output: String) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw ProgramFailure(description: "there is no pipe left") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer { close(ends[0]) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO)
    // Those that are not open are none of its business; closing them is no error.
    for other in STDERR_FILENO + 1..<256 { posix_spawn_file_actions_addclose(&actions, other) }

    // Threads of Swift's pool let no signal through, and children inherit that.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))

    var arguments = (["timeout", "30"] + words).map { strdup($0) } + [nil]
    var variables = ProcessInfo.processInfo.environment.map { strdup("\($0)=\($1)") } + [nil]
    defer { for text in arguments + variables { free(text) } }
    var process: pid_t = 0
    let result = posix_spawnp(&process, "timeout", &actions, &attributes, &arguments, &variables)
    close(ends[1])
    guard result == 0 else { throw ProgramFailure(description: "`timeout` cannot be started: \(result)") }

    var output: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
        let count = read(ends[0], &buffer, buffer.count)
        guard count > 0 else { break }
        output += buffer.prefix(count)
    }
    var status: Int32 = -1
    waitpid(process, &status, 0)
    // The upper byte is what the program ended with, the lower one a signal.
    return (status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F, String(decoding: output, as: UTF8.self))
}
#endif
