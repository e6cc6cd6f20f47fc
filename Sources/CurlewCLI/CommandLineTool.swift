// SPDX-License-Identifier: MIT

import CurlewCore

/// The command `curlew` as a function.
public enum CommandLineTool {
    /// Opens the null device for standard streams that the parent has closed, so that no file or socket takes their
    /// place and receives the output. A program calls it before anything else.
    public static func openClosedStreams() { ProcessStreams.open() }

    /// Runs the command with the streams of this process and returns its exit code.
    ///
    /// - `arguments`: the arguments after the name of the program.
    ///
    /// If the task is cancelled, the running transfers end and the result is 130.
    public static func run(_ arguments: [String]) async -> Int32 {
        await run(arguments, io: .process)
    }

    /// Runs the command with other streams. Never throws: errors are written to the error stream.
    package static func run(_ arguments: [String], io: CommandIO) async -> Int32 {
        do {
            let parsed = try ParsedArguments(arguments)
            return try await run(parsed, isEmpty: arguments.isEmpty, io).rawValue
        } catch let error as UsageError {
            report("curlew: \(error.message)\n        \(error.advice)", io)
            return ExitCode.usage.rawValue
        } catch is OutputClosed {
            return ExitCode.closed.rawValue
        } catch {
            var error = NetworkError(error)
            if error.isCancelled { return ExitCode.interrupted.rawValue }
            error.routeName = nil
            error.hint = Advice.text(for: error)
            report("curlew: \(error)".replacingPrefix("curlew: NetworkError: ", with: "curlew: "), io)
            return ExitCode(error).rawValue
        }
    }

    private static func report(_ text: String, _ io: CommandIO) {
        io.note(SafeText.lines(text) + "\n")
    }

    private static func run(_ arguments: ParsedArguments, isEmpty: Bool, _ io: CommandIO) async throws -> ExitCode {
        let console = Console(arguments, io)
        if arguments.has(.version) {
            try console.write(HelpText.version + "\n")
            return .success
        }
        if arguments.has(.help) || isEmpty
            || arguments.command == .request && arguments.operands.isEmpty
                && arguments.has(.headers)
        {
            let isOverview = arguments.command == .request
            let text =
                isOverview
                ? HelpText.overview(columns: io.columns)
                : HelpText.command(arguments.command, columns: io.columns)
            guard !isEmpty else {
                io.note(text)
                return .usage
            }
            try console.write(text)
            return .success
        }
        switch arguments.command {
        case .request: return try await RequestCommand(arguments: arguments, io: io).run()
        case .help, .completions, .man: return try TextCommands(arguments: arguments, console: console).run()
        case .download: return try await TransferCommands(arguments: arguments, io: io).download()
        case .upload: return try await TransferCommands(arguments: arguments, io: io).upload()
        case .events: return try await StreamCommands(arguments: arguments, io: io).events()
        case .ws: return try await StreamCommands(arguments: arguments, io: io).webSocket()
        case .batch: return try await BatchCommand(arguments: arguments, io: io).run()
        case .bench: return try await BenchCommand(arguments: arguments, io: io).run()
        case .curl: return try await CurlCommands(arguments: arguments, io: io).run()
        case .serve: return try await ServeCommand(arguments: arguments, io: io).run()
        case .har: return try HARCommand(arguments: arguments, io: io).run()
        }
    }
}

extension String {
    fileprivate func replacingPrefix(_ prefix: String, with other: String) -> String {
        utf8.starts(with: prefix.utf8) ? other + String(Substring(utf8.dropFirst(prefix.utf8.count))) : self
    }
}
