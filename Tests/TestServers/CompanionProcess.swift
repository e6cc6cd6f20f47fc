// SPDX-License-Identifier: MIT

import CTestSupport
import CurlewCore
package import Foundation

/// A program that runs beside the tests, with a line to its input and one from its outputs.
///
/// Not Foundation's `Process`: children that are started at the same time, here or by exit tests, inherit each other's
/// descriptors there, and the end of a short one is noticed only when the longest one ends. Here a child gets three
/// descriptors and no more.
///
/// A server ends at the end of its input, which comes with this object or with the test process.
package final class CompanionProcess: Sendable {
    private let process: pid_t
    private let input: Int32
    private let output: Int32
    private let isFinished = Locked(false)

    package init(_ path: String, _ arguments: [String], in folder: String = "/") throws {
        var words = ([path] + arguments).map { strdup($0) } + [nil]
        defer { words.forEach { free($0) } }
        var (input, output): (Int32, Int32) = (-1, -1)
        process = companion_process_start(path, &words, folder, &input, &output)
        (self.input, self.output) = (input, output)
        guard process > 0 else {
            throw Program.Failure(description: "\(path) cannot be started: \(String(cString: strerror(-process)))")
        }
    }

    deinit {
        guard process > 0 else { return }
        close(input)
        close(output)
        if !isFinished.withLock({ $0 }) { startThread { [process] in waitpid(process, nil, 0) } }
    }

    /// Gives the program all the input it gets, which should fit into the system's buffer. It need not read it.
    package func write(_ bytes: Data) {
        _ = bytes.withUnsafeBytes { send(input, $0.baseAddress, $0.count, LoopbackPort.noSignal) }
        shutdown(input, Int32(SHUT_WR))
    }

    /// The first line that the program writes, or what it wrote before it ended. Blocks.
    package func readLine() -> String {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while read(output, &byte, 1) == 1, byte != UInt8(ascii: "\n") { line.append(byte) }
        return String(decoding: line, as: UTF8.self)
    }

    /// Everything that the program writes. Blocks.
    package func readToEnd() -> Data {
        var all = Data()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(output, &buffer, buffer.count)
            guard count > 0 else { return all }
            all += buffer.prefix(count)
        }
    }

    /// Kills the program. `finish` still waits for its end.
    package func kill() {
        guard process > 0, !isFinished.withLock({ $0 }) else { return }
        Foundation.kill(process, SIGKILL)
    }

    /// Waits for the end of the program; 0 if it was content. Once.
    package func finish() -> Int32 {
        isFinished.withLock { $0 = true }
        var status: Int32 = -1
        waitpid(process, &status, 0)
        return status
    }
}
