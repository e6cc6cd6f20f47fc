// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP
import CurlewStreams

/// The server's end of a WebSocket connection over a socket. The script calls it from its task, and the thread of the
/// connection carries the bytes: see `WebSocketPump`.
final class ServedWebSocket: MockSocketLink {
    private struct State: Sendable {
        var machine: WebSocketMachine
        var recorder = FrameRecorder()
        var clientClosing: (code: WebSocketCloseCode, reason: String)?
        var violation: String?
        var hasSentClose = false
        var isReading = true
        var repliesToPings: Bool
        /// The payloads of the pings that wait for their pongs.
        var pings: [Data] = []
        /// When the server stops waiting for the client's close frame.
        var deadline = SystemTime.Deadline.never
    }

    let subprotocol: String?
    let channel: MockChannel
    let inbox = MessageQueue(messages: 64, bytes: 1 << 20)
    private let options: MockResponse.SocketOptions
    private let state: Locked<State>

    private static let closeTimeout = Duration.seconds(5)
    private static let maximumBytes = 1 << 20
    private static let maximumPings = 64

    init(
        _ options: MockResponse.SocketOptions, subprotocol: String?, compression: PerMessageDeflate?
    ) throws {
        self.options = options
        self.subprotocol = subprotocol
        channel = try MockChannel()
        let limits = WebSocketMachine.Limits(message: options.maximumMessageSize, frame: options.maximumMessageSize)
        let deflate = try compression.map { parameters in try DeflateCompression(parameters, role: .server) }
        let machine = WebSocketMachine(role: .server, limits: limits, compression: deflate)
        state = Locked(State(machine: machine, repliesToPings: options.repliesToPings))
    }

    // MARK: The script's side

    var clientClosing: (code: WebSocketCloseCode, reason: String)? { state.withLock { $0.clientClosing } }
    var frames: [MockWebSocket.Frame] { state.withLock { $0.recorder.latest } }
    var violation: String? { state.withLock { $0.violation } }

    func next() async throws -> WebSocketMessage? {
        let message = try await inbox.next()
        // The thread may have stopped reading, because too much was waiting.
        channel.pipe.wake()
        return message
    }

    func send(_ message: WebSocketMessage, frameSize: Int?) throws(NetworkError) {
        // Frames enter the channel in the order in which they were encoded, which compression depends on.
        let failure = state.withLock { state -> NetworkError? in
            do {
                guard !state.hasSentClose else { return Self.closed }
                try channel.output.enqueue(state.machine.encode(message, fragment: frameSize))
                return nil
            } catch {
                return NetworkError(error)
            }
        }
        if let failure { throw failure }
    }

    private static let closed = NetworkError(
        .connectionLost(.requestNotSent), detail: "The WebSocket connection is closed.")

    func flush() async throws(NetworkError) { try await channel.output.flush() }

    func control(_ kind: MockWebSocket.Kind, _ payload: Data) throws(NetworkError) {
        let frame = state.withLock { state in
            kind == .ping ? state.machine.encodePing(payload) : state.machine.encodePong(payload)
        }
        try channel.output.enqueue(frame)
    }

    var repliesToPings: Bool {
        get { state.withLock { $0.repliesToPings } }
        set {
            state.withLock { state in
                state.repliesToPings = newValue
                guard newValue else { return }
                for payload in state.pings { reply(to: payload, state) }
                state.pings = []
            }
        }
    }

    /// Sends a pong. A connection that is already lost needs none.
    private func reply(to payload: Data, _ state: State) {
        if !state.hasSentClose { try? channel.output.enqueue(state.machine.encodePong(payload)) }
    }

    func sendRaw(_ bytes: Data) throws(NetworkError) { try channel.output.enqueue(bytes) }

    func setReading(_ isReading: Bool) {
        state.withLock { $0.isReading = isReading }
        channel.pipe.wake()
    }

    func close(_ code: WebSocketCloseCode, reason: String) {
        sendClose(code, reason: reason)
        inbox.finish()
        let isOver = state.withLock { state in
            if state.deadline == .never {
                state.deadline = SystemTime.Deadline(Self.closeTimeout, after: SystemTime().now)
            }
            return state.clientClosing != nil
        }
        if isOver { channel.output.end(.complete) } else { channel.pipe.wake() }
    }

    func lose(_ error: NetworkError, by interruption: MockResponse.Interruption) {
        channel.output.end(.interrupted(interruption))
        inbox.finish()
    }

    private func sendClose(_ code: WebSocketCloseCode?, reason: String) {
        state.withLock { state in
            guard !state.hasSentClose else { return }
            state.hasSentClose = true
            // A connection that is already lost needs no close frame.
            try? channel.output.enqueue(state.machine.encodeClose(code, reason: reason))
        }
    }

    // MARK: The thread's side

    var deadline: SystemTime.Deadline { state.withLock { $0.deadline } }

    var isReading: Bool {
        guard state.withLock({ $0.isReading }), channel.output.waitingBytes < Self.maximumBytes else { return false }
        return inbox.hasRoom
    }

    func receive(_ bytes: Data) {
        guard !bytes.isEmpty else { return }
        do {
            for event in try parse(bytes) { handle(event) }
            try parse(Data())
        } catch {
            let violation = error as? WebSocketViolation ?? WebSocketViolation(.internalError, "\(error)")
            state.withLock { $0.violation = violation.text }
            sendClose(violation.code, reason: violation.text)
            end()
        }
    }

    @discardableResult
    private func parse(_ bytes: Data) throws -> [WebSocketMachine.Event] {
        try state.withLock { state in
            Result { () throws(WebSocketViolation) in
                guard !bytes.isEmpty else {
                    // A violation after the last events.
                    try state.machine.throwViolation()
                    return []
                }
                state.recorder.receive(bytes)
                return try state.machine.receive(bytes)
            }
        }.get()
    }

    private func handle(_ event: WebSocketMachine.Event) {
        switch event {
        case .message(let message): inbox.add(message)
        case .ping(let payload):
            state.withLock { state in
                if state.repliesToPings { reply(to: payload, state) } else { state.pings.append(payload) }
                if state.pings.count > Self.maximumPings { state.pings.removeFirst() }
            }
        case .pong: return
        case .close(let code, let reason):
            let isReply = state.withLock { state in
                state.clientClosing = (code, reason)
                return state.hasSentClose
            }
            guard isReply || options.repliesToClose else { return inbox.finish() }
            sendClose(code == .noStatus ? nil : code, reason: "")
            end()
        }
    }

    private func end() {
        inbox.finish()
        channel.output.end(.complete)
    }
}

/// Records the heads of the frames in the bytes of a client.
struct FrameRecorder: Sendable {
    private var frames: [MockWebSocket.Frame] = []
    /// The bytes that have not been processed: less than a frame.
    private var buffer = Data()
    /// Whether the bytes are no frames.
    private var isBroken = false

    private static let limit = 1000
    private static let prefixSize = 125

    var latest: [MockWebSocket.Frame] { Array(frames.suffix(Self.limit)) }

    mutating func receive(_ bytes: Data) {
        guard !isBroken else { return }
        buffer.append(bytes)
        do throws(WebSocketViolation) {
            while let (header, size) = try WebSocketFrameHeader.read(buffer, from: 0),
                header.length <= buffer.count - size
            {
                record(header, buffer.dropFirst(size).prefix(min(header.length, Self.prefixSize)))
                buffer = Data(buffer.dropFirst(size + header.length))
            }
        } catch {
            isBroken = true
        }
    }

    private mutating func record(_ header: WebSocketFrameHeader, _ payload: Data) {
        var prefix = Data(payload)
        if let mask = header.mask { WebSocketFrameHeader.apply(mask, to: &prefix) }
        if frames.count == 2 * Self.limit { frames.removeFirst(Self.limit) }
        frames.append(
            MockWebSocket.Frame(
                kind: MockWebSocket.Kind(header.opcode), isFinal: header.isFinal, isCompressed: header.isCompressed,
                isMasked: header.mask != nil, size: header.length, prefix: prefix))
    }
}

extension MockWebSocket.Kind {
    fileprivate init(_ opcode: WebSocketFrameHeader.Opcode) {
        self =
            switch opcode {
            case .continuation: .continuation
            case .text: .text
            case .binary: .binary
            case .close: .close
            case .ping: .ping
            case .pong: .pong
            }
    }
}
