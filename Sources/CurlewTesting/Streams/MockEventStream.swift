// SPDX-License-Identifier: MIT

public import CurlewCore
public import CurlewFoundation

/// The server's end of an event stream (WHATWG HTML §9.2), for scripts of `MockServer` and `MockTransport`.
///
///     server.on(.get, "/news") { request in
///         let last = request.headers["Last-Event-ID"].flatMap { Int($0) } ?? 0
///         return .events { stream in
///             for number in (last + 1)...100 { try await stream.send("news \(number)", id: "\(number)") }
///         }
///     }
///
/// Writing functions return when the system has accepted the bytes, or over `MockTransport` when the client has read
/// them, so a slow client slows the script. They throw `.connectionLost` once the client has closed the connection, the
/// server has stopped, or the script has ended the stream, and `.cancelled` if the task is cancelled.
public final class MockEventStream: Sendable {
    private let output: ScriptOutput

    init(_ output: ScriptOutput) {
        self.output = output
    }

    /// Sends an event: each line of `data` as a field, `retry` in milliseconds, the name and the ID as they are.
    public func send(
        _ data: String, name: String? = nil, id: String? = nil, retry: Duration? = nil
    ) async throws(NetworkError) {
        try await output.write(MockEventStep.encoded(data, name: name, id: id, retry: retry))
    }

    /// Sends a comment, by default an empty one, as servers do to keep a connection open.
    public func comment(_ text: String = "") async throws(NetworkError) {
        try await output.write(MockEventStep.encoded(comment: text))
    }

    /// Sends these bytes as they are.
    public func write(_ bytes: Data) async throws(NetworkError) {
        try await output.write(bytes)
    }

    /// Waits for `duration`, in real time or on the clock of the `HTTPResponse`. Throws `.cancelled` or
    /// `.connectionLost` if the client closes the connection in the meantime.
    public func pause(_ duration: Duration) async throws(NetworkError) {
        try await output.pause(duration)
    }

    /// Ends the connection after the bytes that were sent before. Over `MockTransport`, the body of the response throws
    /// `.connectionLost`, or never ends if the interruption is `.stall`. Returns at once; later calls of the other
    /// functions throw.
    public func interrupt(by interruption: MockResponse.Interruption) {
        output.end(.interrupted(interruption))
    }

    /// Executes a step.
    public func perform(_ step: MockEventStep) async throws(NetworkError) {
        switch step {
        case .event(let data, let name, let id, let retry): try await send(data, name: name, id: id, retry: retry)
        case .comment(let text): try await comment(text)
        case .bytes(let bytes): try await write(bytes)
        case .pause(let duration): try await pause(duration)
        case .interruption(let interruption): interrupt(by: interruption)
        }
    }
}

package struct MockEventScript: Sendable {
    /// The first end of a stream.
    enum Ending: Sendable {
        case complete
        case interrupted(MockResponse.Interruption)
        case failed(NetworkError)
    }

    private let body: @Sendable (MockEventStream) async throws -> Void

    init(_ body: @escaping @Sendable (MockEventStream) async throws -> Void) {
        self.body = body
    }

    init(_ steps: [MockEventStep]) {
        body = { stream in
            for step in steps {
                try await stream.perform(step)
                if case .interruption = step { return }
            }
        }
    }

    /// Runs the script in a new task, which ends `output` when it returns or throws.
    func start(on output: ScriptOutput) -> Task<Void, Never> {
        ScriptTask.start { [body] in
            do {
                try await body(MockEventStream(output))
                output.end(.complete)
            } catch {
                output.end(.failed(NetworkError(error)))
            }
        }
    }
}

/// A step of a scripted event stream (WHATWG HTML §9.2), for `MockResponse.events(_:)` and
/// `HTTPResponse.events(_:on:)`.
///
///     server.on(.get, "/news", respond: .events([.event("one", id: "1"), .pause(.milliseconds(50)), .event("two")]))
@nonexhaustive
public enum MockEventStep: Hashable, Sendable {
    /// An event with this data. Each line of the data is sent as a `data` field. `retry` is sent in milliseconds. The
    /// name and the ID are sent as they are.
    case event(_ data: String, name: String? = nil, id: String? = nil, retry: Duration? = nil)
    /// A comment. Each line of the text is sent as a comment line.
    case comment(String)
    /// These bytes as they are, such as a part of an event or invalid text.
    case bytes(Data)
    /// A pause in real time, or on the clock of `HTTPResponse.events(_:on:)`. The end of the connection ends it early.
    case pause(Duration)
    /// The end of the connection. Later steps are not executed. A stream whose steps have all been executed ends
    /// normally.
    case interruption(MockResponse.Interruption)

    /// This text as it is, such as `retry: 10` and an empty line.
    public static func text(_ text: String) -> MockEventStep { .bytes(Data(text.utf8)) }
}

extension MockEventStep {
    static func encoded(_ data: String, name: String?, id: String?, retry: Duration?) -> Data {
        var text = ""
        if let name { text += "event: \(name)\n" }
        if let id { text += "id: \(id)\n" }
        if let retry { text += "retry: \(retry.roundedUpMilliseconds)\n" }
        for line in data.eventLines { text += "data: \(line)\n" }
        return Data((text + "\n").utf8)
    }

    static func encoded(comment: String) -> Data {
        Data((comment.eventLines.map { ": \($0)\n" }.joined() + "\n").utf8)
    }
}

extension String {
    /// The lines, ended by CR, LF or CRLF. CRLF is one `Character`.
    fileprivate var eventLines: [Substring] {
        split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r" || $0 == "\r\n" }
    }
}
