// SPDX-License-Identifier: MIT

import Curlew

/// What the command reads and writes, as a value, so that tests can replace it.
struct CommandIO: Sendable {
    /// What became of a write to the standard output.
    enum WriteResult: Hashable, Sendable {
        case complete
        /// The reader has closed the stream.
        case closed
        /// The system refused the write with this code, for example because the disk is full.
        case failed(Int32)
    }

    /// Returns the next piece of the standard input; nil at its end. Throws if it cannot be read.
    var read: @Sendable () async throws -> Data? = { nil }
    /// Writes to the standard output.
    var write: @Sendable (Data) -> WriteResult
    /// Writes to the standard error.
    var writeError: @Sendable (Data) -> Void
    var outputIsTerminal = false
    var errorIsTerminal = false
    /// The columns of the terminal.
    var columns = 80
    var environment: [String: String] = [:]
    /// The working folder, to which paths are relative.
    var folder = ""

    /// Writes text to the standard error.
    func note(_ text: String) { writeError(Data(text.utf8)) }

    /// Returns the path of a file that is relative to the working folder.
    func path(_ path: String) -> String {
        folder.isEmpty || path.utf8.first == UInt8(ascii: "/") ? path : folder + "/" + path
    }

    /// Whether the terminal shows block characters, by its locale.
    var isUnicode: Bool {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
        return locale.lowercased().ends(with: "utf-8") || locale.lowercased().ends(with: "utf8")
    }

    /// Whether the terminal understands no control sequences.
    var isDumb: Bool { environment["TERM"] == "dumb" }

    /// Returns the content of a file of at most `limit` bytes.
    func contents(of path: String, limit: Int) throws(NetworkError) -> Data {
        try ProcessStreams.contents(of: self.path(path), limit: limit)
    }
}

extension CommandIO {
    /// The streams, the environment and the folder of this process.
    static var process: CommandIO {
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
