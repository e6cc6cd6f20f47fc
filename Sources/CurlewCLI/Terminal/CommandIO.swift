// SPDX-License-Identifier: MIT

import CurlewCore

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// What the command reads and writes, as a value, so that tests can replace it.
package struct CommandIO: Sendable {
    /// What became of a write to the standard output.
    package enum WriteResult: Hashable, Sendable {
        case complete
        /// The reader has closed the stream.
        case closed
        /// The system refused the write with this code, for example because the disk is full.
        case failed(Int32)
    }

    /// Returns the next piece of the standard input; nil at its end. Throws if it cannot be read.
    package var read: @Sendable () async throws -> Data?
    /// Writes to the standard output.
    package var write: @Sendable (Data) -> WriteResult
    /// Writes to the standard error.
    package var writeError: @Sendable (Data) -> Void
    package var outputIsTerminal: Bool
    package var errorIsTerminal: Bool
    /// The columns of the terminal.
    package var columns: Int
    package var environment: [String: String]
    /// The working folder, to which paths are relative.
    package var folder: String

    package init(
        read: @escaping @Sendable () async throws -> Data? = { nil }, write: @escaping @Sendable (Data) -> WriteResult,
        writeError: @escaping @Sendable (Data) -> Void, outputIsTerminal: Bool = false,
        errorIsTerminal: Bool = false, columns: Int = 80, environment: [String: String] = [:], folder: String = ""
    ) {
        self.read = read
        self.write = write
        self.writeError = writeError
        self.outputIsTerminal = outputIsTerminal
        self.errorIsTerminal = errorIsTerminal
        self.columns = columns
        self.environment = environment
        self.folder = folder
    }

    /// Writes text to the standard error.
    func note(_ text: String) { writeError(Data(text.utf8)) }

    /// Returns the path of a file that is relative to the working folder.
    func path(_ path: String) -> String {
        folder.isEmpty || path.utf8.first == UInt8(ascii: "/") ? path : folder + "/" + path
    }

    /// Whether the terminal understands no control sequences.
    var isDumb: Bool { environment["TERM"] == "dumb" }

    /// Returns the content of a file of at most `limit` bytes.
    func contents(of path: String, limit: Int) throws(NetworkError) -> Data {
        do {
            return try ProcessStreams.contents(of: self.path(path), limit: limit)
        } catch {
            throw NetworkError(.storage, detail: "\(error).", hint: error.hint ?? "Check the path.")
        }
    }
}

extension CommandIO {
    /// The streams, the environment and the folder of this process.
    package static var process: CommandIO {
        let environment = ProcessInfo.processInfo.environment
        var size = winsize()
        let hasSize = ioctl(1, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        let columns = environment["COLUMNS"].flatMap { Int($0) } ?? (hasSize ? Int(size.ws_col) : 80)
        return CommandIO(
            read: ProcessStreams.read, write: { ProcessStreams.write($0, to: 1) },
            writeError: { _ = ProcessStreams.write($0, to: 2) }, outputIsTerminal: isatty(1) == 1,
            errorIsTerminal: isatty(2) == 1, columns: min(400, max(20, columns)), environment: environment)
    }
}
