// SPDX-License-Identifier: MIT

import Curlew

/// The command `curlew` as a function.
enum CommandLineTool {
    /// Runs the command and returns its exit code. Never throws: errors are written to the error stream.
    ///
    /// - `arguments`: the arguments after the name of the program.
    ///
    /// If the task is cancelled, the running transfers end and the result is 130.
    static func run(_ arguments: [String], io: CommandIO) async -> Int32 {
        let parsed = Result { try ParsedArguments(arguments) }
        let console = (try? parsed.get()).map { Console($0, io) }
        do {
            return try await run(try parsed.get(), isEmpty: arguments.isEmpty, io).rawValue
        } catch let error as UsageError {
            report("curlew: \(error.message)\n        \(error.advice)", console, io)
            return ExitCode.usage.rawValue
        } catch is OutputClosed {
            return ExitCode.closed.rawValue
        } catch {
            var error = NetworkError(error)
            if error.isCancelled { return ExitCode.interrupted.rawValue }
            error.routeName = nil
            error.hint = Advice.text(for: error)
            let text = "\(error)"
            report("curlew: \(text.begins(with: "NetworkError: ") ? String(text.dropFirst(14)) : text)", console, io)
            return ExitCode(error).rawValue
        }
    }

    /// Writes the lines of an error. On a terminal they are wrapped between words, and have the colours of other texts.
    private static func report(_ text: String, _ console: Console?, _ io: CommandIO) {
        for (index, line) in SafeText.lines(text).split(separator: "\n").enumerated() {
            guard let console else {
                io.note(line + "\n")
                continue
            }
            // The name of the line and the spaces after it, or the spaces before a line without a name.
            var head = line.prefix { $0 == " " }
            let name = line[head.endIndex...].upTo(" ")
            let end = line[name.endIndex...].firstIndex { $0 != " " } ?? line.endIndex
            if index == 0 || line.distance(from: name.endIndex, to: end) > 1 { head = line[..<end] }
            let text = console.wrapped(String(line[head.endIndex...]), hanging: head.count)
            let style = console.errorStyle
            io.note(style(.name, String(head)) + (index == 0 ? style(.bad, text) : text) + "\n")
        }
    }

    private static func run(_ arguments: ParsedArguments, isEmpty: Bool, _ io: CommandIO) async throws -> ExitCode {
        let console = Console(arguments, io)
        if arguments.has(.version) {
            try console.write(HelpText.version + "\n")
            return .success
        }
        let isRequest = arguments.command == .request
        if arguments.has(.help) || isEmpty || isRequest && arguments.operands.isEmpty && arguments.has(.headers) {
            let columns = io.columns
            let text =
                isRequest ? HelpText.overview(columns: columns) : HelpText.command(arguments.command, columns: columns)
            guard !isEmpty else {
                io.note(text)
                return .usage
            }
            try console.write(text)
            return .success
        }
        switch arguments.command {
        case .request: return try await RequestCommand(arguments: arguments, io: io).run()
        case .help, .completions: return try TextCommands(arguments: arguments, console: console).run()
        case .download: return try await TransferCommands(arguments: arguments, io: io).download()
        case .upload: return try await TransferCommands(arguments: arguments, io: io).upload()
        case .events: return try await StreamCommands(arguments: arguments, io: io).events()
        case .ws: return try await StreamCommands(arguments: arguments, io: io).webSocket()
        case .curl: return try await CurlCommands(arguments: arguments, io: io).run()
        case .serve: return try await ServeCommand(arguments: arguments, io: io).run()
        case .har: return try HARCommand(arguments: arguments, io: io).run()
        }
    }
}
