// SPDX-License-Identifier: MIT

import CurlewCore
import Dispatch

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
    /// Returns the next piece of the standard input; nil at its end.
    package var read: @Sendable () async -> Data?
    /// Writes to the standard output. Returns false if its reader has closed it.
    package var write: @Sendable (Data) -> Bool
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
        read: @escaping @Sendable () async -> Data? = { nil }, write: @escaping @Sendable (Data) -> Bool,
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

    /// Returns the content of a file of at most `limit` bytes.
    func contents(of path: String, limit: Int) throws(NetworkError) -> Data {
        do {
            return try PrivateFile.read(self.path(path), limit: limit)
        } catch {
            throw NetworkError(.storage, detail: "\(error).", hint: error.hint ?? "Check the path.")
        }
    }
}

extension CommandIO {
    /// The streams, the environment and the folder of this process.
    package static var process: CommandIO {
        let environment = ProcessInfo.processInfo.environment
        let isDumb = environment["TERM"] == "dumb"
        var size = winsize()
        let hasSize = ioctl(1, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        let columns = environment["COLUMNS"].flatMap { Int($0) } ?? (hasSize ? Int(size.ws_col) : 80)
        return CommandIO(
            read: readStandardInput,
            write: { data in data.withUnsafeBytes { PrivateFile.write($0, to: 1) } },
            writeError: { data in _ = data.withUnsafeBytes { PrivateFile.write($0, to: 2) } },
            outputIsTerminal: isatty(1) == 1 && !isDumb, errorIsTerminal: isatty(2) == 1 && !isDumb,
            columns: min(400, max(20, columns)), environment: environment)
    }

    /// Reads on a thread that may block.
    private static func readStandardInput() async -> Data? {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                var buffer = [UInt8](repeating: 0, count: 64 << 10)
                var count = -1
                repeat {
                    #if canImport(Glibc)
                    count = Glibc.read(0, &buffer, buffer.count)
                    #elseif canImport(Musl)
                    count = Musl.read(0, &buffer, buffer.count)
                    #else
                    count = Darwin.read(0, &buffer, buffer.count)
                    #endif
                } while count < 0 && errno == EINTR
                continuation.resume(returning: count > 0 ? Data(buffer[..<count]) : nil)
            }
        }
    }
}
