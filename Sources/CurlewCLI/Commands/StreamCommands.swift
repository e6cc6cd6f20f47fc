// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import CurlewStreams

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// `curlew events` and `curlew ws`.
struct StreamCommands {
    let arguments: ParsedArguments
    let io: CommandIO

    /// Prints server-sent events: on a terminal the name and the data, elsewhere one JSON object per line.
    func events() async throws -> ExitCode {
        let plan = try await RequestPlan(arguments, io: io)
        let console = Console(arguments, io)
        let insight = Insight(arguments, console)
        let observers = insight.observers + [ReconnectionNotes(console)]
        let (client, session) = try ClientBuilder(arguments: arguments, io: io, follows: true)
            .client(for: plan, observers: observers, adding: insight.interceptors)
        var options = EventStreamOptions()
        options.reconnects = arguments.has(.noReconnect) ? false : nil
        let call = plan.call(
            { Request<Void>($0, url: $1, body: $2, headers: $3, name: "") }, accept: "text/event-stream")
        let limit = try arguments.number(.count, in: 1...1_000_000_000)
        let stream = client.events(call, options: options)
        do {
            try await TimeLimit.run(try arguments.seconds(.maxTime)) {
                try await Self.write(stream, limit: limit, console)
            }
        } catch {
            insight.finishAfterFailure(io)
            throw error
        }
        try insight.finish(io)
        try session?.save()
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
            var object = JSONValue.Object()
            object["event"] = .string(event.name)
            if !event.id.isEmpty { object["id"] = .string(event.id) }
            object["data"] = .string(event.data)
            return Self.line(.object(object))
        }
        let head = console.style(.strong, event.name.printable)
        let id = event.id.isEmpty ? "" : console.style(.dim, " (\(event.id.printable))")
        let data =
            JSONFormatter.format(Data(event.data.utf8), style: console.style) ?? SafeText.lines(event.data)
        return head + id + "\n" + data + "\n"
    }

    /// Returns a value as one line.
    static func line(_ value: JSONValue) -> String {
        let data = (try? Codecs.json.encode(value)) ?? Data()
        return String(decoding: data, as: UTF8.self) + "\n"
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
        let console = Console(arguments, io)
        let insight = Insight(arguments, console)
        let (client, session) = try ClientBuilder(arguments: arguments, io: io)
            .client(for: plan, observers: insight.observers, adding: insight.interceptors)
        let call = plan.call { Request<Void>(.get, url: $1, headers: $3, name: "") }
        let limit = try arguments.number(.count, in: 1...1_000_000_000)
        let socket: WebSocket
        do { socket = try await client.webSocket(call) } catch {
            insight.finishAfterFailure(io)
            throw error
        }
        console.advise("Connected. Lines are sent; Ctrl-D closes.")
        let received = Locked(0)
        // Reading from a terminal cannot be cancelled, so the sender is not awaited.
        let problem = Locked<(any Error)?>(nil)
        let hasSent = Locked(false)
        let sender = Task { [io] in
            do { try await Self.send(from: io, over: socket, closes: limit == nil, received) } catch {
                problem.withLock { $0 = error }
                await socket.close()
            }
            hasSent.withLock { $0 = true }
        }
        defer { sender.cancel() }
        do {
            try await TimeLimit.run(try arguments.seconds(.maxTime)) {
                try await Self.receive(from: socket, limit: limit, received, console)
            }
        } catch {
            await socket.close()
            insight.finishAfterFailure(io)
            throw error
        }
        await socket.close()
        try insight.finish(io)
        try session?.save()
        // Lines that are there already are noticed as not sent. The sender may also wait for a terminal.
        for _ in 0..<20 where socket.closing?.isByServer == true && !hasSent.withLock({ $0 }) {
            try await Task.sleep(for: .milliseconds(5))
        }
        return try Self.outcome(of: socket, problem.withLock { $0 }, console)
    }

    /// Returns the exit code after the regular end of a WebSocket. Lines that could not be sent any more are a failure.
    private static func outcome(of socket: WebSocket, _ problem: (any Error)?, _ console: Console) throws -> ExitCode {
        if let problem = problem as? UsageError { throw problem }
        let problem = problem.map { NetworkError($0) }
        if let problem, !problem.isCancelled, !problem.isConnectionLost { throw problem }
        guard let closing = socket.closing, closing.isByServer else { return .success }
        let text = "Closed by the server: \(closing.code.rawValue) \(closing.reason.printable)"
        guard problem == nil else {
            console.note("curlew: \(text)\n        Not all lines of the input were sent.")
            return .failure
        }
        console.advise(text)
        return .success
    }

    /// How long no message arrives before the connection is closed.
    private static let quiet = Duration.milliseconds(500)

    private static func receive(from socket: WebSocket, limit: Int?, _ received: Locked<Int>, _ console: Console)
        async throws
    {
        var iterator = socket.makeAsyncIterator()
        var count = 0
        while limit.map({ count < $0 }) ?? true, let message = try await iterator.next() {
            count += 1
            received.withLock { $0 += 1 }
            switch message {
            case .text(let text):
                let formatted = console.isPretty ? JSONFormatter.format(Data(text.utf8), style: console.style) : nil
                try console.write((formatted ?? (console.isPretty ? SafeText.lines(text) : text)) + "\n")
            case .binary(let data):
                try console.write("(\(data.count) bytes)\n")
            }
        }
    }

    private static func send(
        from io: CommandIO, over socket: WebSocket, closes: Bool, _ received: Locked<Int>
    ) async throws {
        try await sendLines(from: io, over: socket)
        guard closes else { return }
        // Closing drops what is not read yet. A server reads a ping after the lines, and may reply to them after it.
        _ = try? await socket.ping()
        var seen = -1
        while seen != received.withLock({ $0 }), !Task.isCancelled {
            seen = received.withLock { $0 }
            try? await Task.sleep(for: quiet)
        }
        await socket.close()
    }

    private static func sendLines(from io: CommandIO, over socket: WebSocket) async throws {
        var splitter = InputLines()
        while let piece = try await io.read() {
            for line in try splitter.add(piece) { try await send(line, over: socket) }
        }
        if let line = try splitter.end() { try await send(line, over: socket) }
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
private final class ReconnectionNotes: ImmediateObserver {
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
