// SPDX-License-Identifier: MIT

import Curlew

/// `curlew events` and `curlew ws`.
struct StreamCommands {
    let arguments: ParsedArguments
    let io: CommandIO

    /// Prints server-sent events: on a terminal the name and the data, elsewhere one JSON object per line.
    func events() async throws -> ExitCode {
        let plan = try await RequestPlan(arguments, io: io)
        let notes = ReconnectionNotes(Console(arguments, io))
        let run = try CommandClient(arguments, io, for: plan, follows: true, observers: [notes])
        var options = EventStream.Options()
        options.reconnects = arguments.has(.noReconnect) ? false : nil
        let call = plan.call(accept: "text/event-stream") {
            Request<Void>($0, url: $1, body: $2, headers: $3, name: "")
        }
        let limit = try arguments.number(.count, in: 1...1_000_000_000)
        let time = try arguments.seconds(.maxTime)
        let stream = run.client.events(call, options: options)
        try await run.run {
            try await TimeLimit.run(time) { try await Self.write(stream, limit: limit, run.console) }
        }
        return .success
    }

    private static func write(_ events: EventStream, limit: Int?, _ console: Console) async throws {
        var iterator = events.makeAsyncIterator()
        var count = 0
        while limit.map({ count < $0 }) ?? true, let event = try await iterator.next() {
            count += 1
            try console.write(text(event, console))
        }
    }

    private static func text(_ event: ServerEvent, _ console: Console) -> String {
        guard console.isPretty else {
            var object: JSONValue.Object = ["event": .string(event.name)]
            if !event.id.isEmpty { object["id"] = .string(event.id) }
            object["data"] = .string(event.data)
            let line = (try? Codecs.json.encode(JSONValue.object(object))) ?? Data()
            return String(decoding: line, as: UTF8.self) + "\n"
        }
        let id = event.id.isEmpty ? "" : console.style(.dim, " (\(event.id.printable))")
        return console.style(.strong, event.name.printable) + id + "\n" + shown(event.data, console) + "\n"
    }

    /// Returns a text: formatted if it is JSON, safe for a terminal, or unchanged for a pipe.
    private static func shown(_ text: String, _ console: Console) -> String {
        guard console.isPretty else { return text }
        return JSONFormatter.format(Data(text.utf8), style: console.style) ?? SafeText.lines(text)
    }

    /// Sends the lines of the input, and prints the messages. After the end of the input, the connection is closed when
    /// no message has arrived for half a second. With `--count`, it stays open until so many have arrived.
    func webSocket() async throws -> ExitCode {
        let plan = try await RequestPlan(arguments, io: io)
        guard plan.content.mediaType == nil, plan.method == .get else {
            throw UsageError(
                "A WebSocket is opened with GET, without a body.",
                "Write its messages to the standard input, one per line.")
        }
        let run = try CommandClient(arguments, io, for: plan)
        let console = run.console
        let call = plan.call { Request<Void>(.get, url: $1, headers: $3, name: "") }
        let limit = try arguments.number(.count, in: 1...1_000_000_000)
        let time = try arguments.seconds(.maxTime)
        return try await run.run {
            let socket = try await run.client.webSocket(call)
            console.advise("Connected. Lines are sent; Ctrl-D closes.")
            let received = Locked(0)
            let sender = Task { [io] in
                do { try await Self.send(from: io, over: socket, closes: limit == nil, received) } catch {
                    await socket.close()
                    throw error
                }
            }
            var failure: (any Error)?
            do {
                try await TimeLimit.run(time) {
                    try await Self.receive(from: socket, limit: limit, received, console)
                }
            } catch { failure = error }
            await socket.close()
            // Lines that are there already are noticed as not sent. The sender may also wait for a terminal.
            Task {
                try? await Task.sleep(for: .milliseconds(100))
                sender.cancel()
            }
            let sent = await sender.result
            if let failure { throw failure }
            return try Self.outcome(of: socket, sent, console)
        }
    }

    /// Returns the exit code after the regular end of a WebSocket. Lines that could not be sent any more are a failure.
    private static func outcome(
        of socket: WebSocket, _ sent: Result<Void, any Error>, _ console: Console
    ) throws -> ExitCode {
        var problem: NetworkError?
        if case .failure(let error) = sent {
            problem = NetworkError(error)
            if error is UsageError || problem?.isCancelled == false && problem?.isConnectionLost == false {
                throw error
            }
        }
        guard let closing = socket.closing, closing.isByServer else { return .success }
        let text = "Closed by the server: \(closing.code.rawValue) \(closing.reason.printable)"
        guard problem == nil else {
            console.note("curlew: \(text)\n        Not all lines of the input were sent.")
            return .failure
        }
        console.advise(text)
        return .success
    }

    private static func receive(from socket: WebSocket, limit: Int?, _ received: Locked<Int>, _ console: Console)
        async throws
    {
        var iterator = socket.makeAsyncIterator()
        var count = 0
        while limit.map({ count < $0 }) ?? true, let message = try await iterator.next() {
            count += 1
            received.withLock { $0 += 1 }
            switch message {
            case .text(let text): try console.write(shown(text, console) + "\n")
            case .binary(let data): try console.write("(\(data.count) bytes)\n")
            }
        }
    }

    private static func send(
        from io: CommandIO, over socket: WebSocket, closes: Bool, _ received: Locked<Int>
    ) async throws {
        var splitter = InputLines()
        while let piece = try await io.read() {
            for line in try splitter.add(piece) { try await send(line, over: socket) }
        }
        if let line = try splitter.end() { try await send(line, over: socket) }
        guard closes else { return }
        // Closing drops what is not read yet. A server reads a ping after the lines, and may reply to them after it.
        _ = try? await socket.ping()
        var seen = -1
        while seen != received.withLock({ $0 }), !Task.isCancelled {
            seen = received.withLock { $0 }
            try? await Task.sleep(for: .milliseconds(500))
        }
        await socket.close()
    }

    /// Throws `.connectionLost` if the connection was closed before. A line during which it is closed may have arrived.
    private static func send(_ line: String, over socket: WebSocket) async throws {
        let wasClosed = socket.closing != nil
        do throws(NetworkError) { try await socket.send(line) } catch {
            if wasClosed || !error.isConnectionLost { throw error }
        }
    }
}

extension NetworkError {
    fileprivate var isConnectionLost: Bool { if case .connectionLost = reason { true } else { false } }
}

/// Says why an event stream connects again, which would otherwise look like a server without events. An equal reason is
/// not repeated.
private final class ReconnectionNotes: RequestObserver {
    private let console: Console
    private let last = Locked("")

    init(_ console: Console) { self.console = console }

    func record(_ event: ExchangeEvent, in context: ExchangeContext) {
        guard !console.isQuiet, case .attemptFailed(let error) = event, !error.isCancelled else { return }
        let text = "\(error.label): \(error.detail)".printable
        let isNew = last.withLock { last in
            defer { last = text }
            return last != text
        }
        if isNew { console.note("curlew: \(text)") }
    }
}

/// Splits the standard input into lines of UTF-8.
struct InputLines {
    /// The greatest line. A longer one is an error, because its parts would be something else.
    private let limit: Int
    private var rest = Data()

    init(limit: Int = 16 << 20) { self.limit = limit }

    /// Returns the lines that end in `piece`, without their line breaks.
    mutating func add(_ piece: Data) throws(UsageError) -> [String] {
        var lines: [String] = []
        var start = piece.startIndex
        while let end = piece[start...].firstIndex(of: 0x0A) {
            rest.append(piece[start..<end])
            lines.append(try Self.text(rest))
            rest = Data()
            start = end + 1
        }
        rest.append(piece[start...])
        guard rest.count <= limit else { throw UsageError("A line of the input has more than \(limit >> 20) MiB.") }
        return lines
    }

    /// Returns the last line if no line break ends it.
    mutating func end() throws(UsageError) -> String? {
        defer { rest = Data() }
        return rest.isEmpty ? nil : try Self.text(rest)
    }

    private static func text(_ line: Data) throws(UsageError) -> String {
        let line = line.last == 0x0D ? line.dropLast() : line
        let text = String(decoding: line, as: UTF8.self)
        guard text.utf8.elementsEqual(line) else {
            throw UsageError("A line of the input is not UTF-8.", "Convert the input, for example with iconv.")
        }
        return text
    }
}
