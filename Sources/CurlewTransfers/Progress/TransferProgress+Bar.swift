// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation

extension TransferProgress {
    /// A progress bar for a program in a terminal.
    ///
    ///     let bar = TransferProgress.Bar("export.csv")
    ///     try await client.download(.export, to: path, progress: bar.handler)
    ///
    /// - On a terminal, each value replaces the line. The line fits into the window, of which it assumes at least 20
    ///   columns, or into `COLUMNS` columns, or into 80. The last value ends the line.
    /// - Elsewhere (a pipe, a file, `TERM=dumb`), the bar writes a plain line for the first and for the last value, and
    ///   one at most every 10 seconds between them.
    /// - Block characters are used in a UTF-8 locale only (`LC_ALL`, `LC_CTYPE`, `LANG`), and colour unless `NO_COLOR`
    ///   is set.
    /// - Writing errors are ignored. A terminal that stops reading delays the transfer.
    ///
    /// Show one transfer at a time. Control characters in the title are made visible.
    public final class Bar: Sendable {
        private struct State {
            var shown: String?
            var nextPlain: MonotonicInstant?
        }

        /// The minimum time between two plain lines.
        static let plainInterval = Duration.seconds(10)

        private let line: ProgressLine
        private let descriptor: Int32
        private let isTerminal: Bool
        private let columns: Int
        private let time: any TimeSource
        private let state = Locked(State())

        /// Creates a bar.
        ///
        /// - `title`: text before the bar, such as a file name. Default none.
        /// - `descriptor`: the open file to which the bar writes. Default standard error, so that the output of the
        ///   program stays clean.
        public convenience init(_ title: String = "", to descriptor: Int32 = 2) {
            let environment = ProcessInfo.processInfo.environment
            self.init(
                title, to: descriptor, isTerminal: isatty(descriptor) == 1 && environment["TERM"] != "dumb",
                environment: environment, time: SystemTime())
        }

        init(
            _ title: String, to descriptor: Int32, isTerminal: Bool, environment: [String: String],
            time: any TimeSource
        ) {
            line = ProgressLine(title: title, environment: environment)
            self.descriptor = descriptor
            self.isTerminal = isTerminal
            columns = environment["COLUMNS"].flatMap { Int($0) } ?? 80
            self.time = time
        }

        /// The handler to pass to a transfer. It keeps the bar.
        public var handler: Handler { { self.show($0) } }

        /// Shows a value, such as one of `TransferProgress.Updates`.
        public func show(_ progress: TransferProgress) {
            let text = isTerminal ? redrawn(progress) : plain(progress)
            if let text { write(text) }
        }

        private func redrawn(_ progress: TransferProgress) -> String? {
            let text = line.text(progress, columns: Self.columns(of: descriptor) ?? columns)
            return state.withLock { state in
                let isShown = state.shown == text
                state.shown = progress.isLast ? nil : text
                if isShown { return progress.isLast ? "\n" : nil }
                // Back to the first column, and erase what remains of a longer line.
                return "\r" + text + "\u{1B}[K" + (progress.isLast ? "\n" : "")
            }
        }

        private func plain(_ progress: TransferProgress) -> String? {
            let now = time.now
            let isDue = state.withLock { state in
                if let next = state.nextPlain, now < next, !progress.isLast { return false }
                state.nextPlain = progress.isLast ? nil : now.advanced(by: Self.plainInterval)
                return true
            }
            return isDue ? line.plain(progress) + "\n" : nil
        }

        /// Returns the columns of a terminal's window; nil for anything else.
        static func columns(of descriptor: Int32) -> Int? {
            var size = winsize()
            guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
            return Int(size.ws_col)
        }

        private func write(_ text: String) {
            var rest = Array(text.utf8)[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { Self.write(descriptor, $0) }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return }
                rest = rest.dropFirst(count)
            }
        }

        private static func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
            #if canImport(Glibc)
            Glibc.write(descriptor, bytes.baseAddress, bytes.count)
            #elseif canImport(Musl)
            Musl.write(descriptor, bytes.baseAddress, bytes.count)
            #else
            Darwin.write(descriptor, bytes.baseAddress, bytes.count)
            #endif
        }
    }
}
