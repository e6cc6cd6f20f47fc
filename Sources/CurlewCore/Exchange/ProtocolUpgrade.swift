// SPDX-License-Identifier: MIT

package import CurlewFoundation
package import CurlewHTTP

/// A request to switch the connection to another protocol after the response head (RFC 9110 §7.8).
///
/// A transport that supports the switch sends the request over HTTP/1.1 on a connection of its own. After a 101
/// response, the body of the response contains the bytes from the server, and the transport sends the bytes of
/// `output`. A transport that supports WebSocket messages but no bytes attaches a `MessageConnection` to the response
/// instead. Any other transport throws `.configuration`.
package struct ProtocolUpgrade: Sendable {
    /// The bytes to send after the switch.
    package let output: OutgoingBytes
    /// The maximum size of a received message in bytes, for transports that receive messages.
    package let messageLimit: Int

    package init(output: OutgoingBytes, messageLimit: Int) {
        self.output = output
        self.messageLimit = messageLimit
    }
}

extension RequestOptions {
    /// The requested protocol switch; nil for an ordinary call.
    package var upgrade: ProtocolUpgrade? {
        get { self[ProtocolUpgradeKey.self] }
        set { self[ProtocolUpgradeKey.self] = newValue }
    }
}

private enum ProtocolUpgradeKey: RequestOptions.Key {
    static let defaultValue: ProtocolUpgrade? = nil
}

/// A WebSocket connection of a transport that receives and sends complete messages.
package protocol MessageConnection: AnyObject, Sendable {
    /// The subprotocol that the server has selected; nil if there is none.
    var subprotocol: String? { get }
    /// The code and the reason with which the server closed the connection; nil until then.
    var closing: (code: WebSocketCloseCode, reason: String)? { get }
    /// Sends a message. Returns when the transport has accepted it.
    func send(_ message: WebSocketMessage) async throws
    /// Returns the next message; nil once the connection is closed. Throws if the connection is lost. Called by one
    /// task at a time.
    func receive() async throws -> WebSocketMessage?
    /// Sends a ping and returns when the pong has arrived. Throws if the connection ends before.
    func ping() async throws
    /// Closes the connection. The transport need not wait for the server's close frame.
    func close(_ code: WebSocketCloseCode, reason: String)
    /// Ends the connection immediately. Waiting calls return or throw.
    func cancel()
}

extension MessageConnection {
    /// Closes the connection with 1001, for transports whose `close` waits for nothing.
    package func cancel() { close(.goingAway, reason: "") }
}

extension HTTPResponse {
    /// The connection that the transport attached to a 101 response; nil if the bytes are in the body.
    package var messageConnection: (any MessageConnection)? {
        get { facts[MessageConnectionKey.self] }
        set { facts[MessageConnectionKey.self] = newValue }
    }
}

private enum MessageConnectionKey: FactKey {
    static let defaultValue: (any MessageConnection)? = nil
}

#if os(Linux)
extension HTTPResponse {
    /// The executor on which the bytes of a 101 response arrive; nil if the transport has none. A task that receives
    /// there and never blocks needs no other thread for each arrival.
    package var arrivalExecutor: (any TaskExecutor)? {
        get { facts[ArrivalExecutorKey.self] }
        set { facts[ArrivalExecutorKey.self] = newValue }
    }
}

private enum ArrivalExecutorKey: FactKey {
    static let defaultValue: (any TaskExecutor)? = nil
}
#endif

/// A bounded buffer of bytes from any number of writers to a transport.
///
/// Writers wait while the buffer holds `capacity` bytes or more. The bytes of one `append` are never interleaved with
/// those of another one.
package final class OutgoingBytes: Sendable {
    package enum Step {
        case bytes(Int)
        case end
        /// No bytes are available. `resume` is called when there are some, or when the bytes end.
        case wait
    }

    private struct State {
        var bytes = Data()
        /// The number of bytes at the beginning of `bytes` that the transport has taken.
        var taken = 0
        var isFinished = false
        var failure: NetworkError?
        var isTransportWaiting = false
        var resume: (@Sendable () -> Void)?

        var count: Int { bytes.count - taken }

        /// Returns the function that resumes the transport if it waits for bytes.
        mutating func takeResume() -> (@Sendable () -> Void)? {
            guard isTransportWaiting else { return nil }
            isTransportWaiting = false
            return resume
        }
    }

    private let capacity: Int
    private let state = Monitor(State())

    /// Creates an empty buffer. Writers wait while it holds `capacity` bytes or more.
    package init(capacity: Int = 64 << 10) {
        self.capacity = max(1, capacity)
    }

    /// The number of bytes that the transport has not taken.
    var count: Int { state.withLock { $0.count } }

    /// The size of the memory that holds the bytes.
    var keptBytes: Int { state.withLock { $0.bytes.count } }

    /// Whether the buffer holds less than `capacity` bytes.
    package var hasRoom: Bool { count < capacity }

    /// Appends bytes without waiting. Throws the error of `detach(_:)`, or `.connectionLost` if the buffer is finished.
    package func append(_ data: Data) throws(NetworkError) {
        let (resume, failure) = state.withLock { state -> ((@Sendable () -> Void)?, NetworkError?) in
            if let failure = state.failure { return (nil, failure) }
            guard !state.isFinished else { return (nil, Self.closed) }
            if state.count == 0 { (state.bytes, state.taken) = (data, 0) } else { state.bytes.append(data) }
            return (state.takeResume(), nil)
        }
        if let failure { throw failure }
        resume?()
    }

    /// Waits until the buffer holds less than `capacity` bytes. Throws the error of `detach(_:)`, or `.cancelled`.
    package func waitForRoom() async throws(NetworkError) {
        let end = await state.wait { [capacity] state -> Result<Void, NetworkError>? in
            if let failure = state.failure { return .failure(failure) }
            return state.count < capacity ? .success(()) : nil
        }
        guard let end else { throw NetworkError(.cancelled) }
        try end.get()
    }

    /// Appends `last`, unless the buffer is finished or the connection lost, and ends the bytes. The transport sends
    /// those in the buffer.
    package func finish(appending last: Data = Data()) {
        let resume = state.withLock { state -> (@Sendable () -> Void)? in
            if !state.isFinished, state.failure == nil { state.bytes.append(last) }
            state.isFinished = true
            return state.takeResume()
        }
        resume?()
    }

    // MARK: The transport's side

    /// Connects the buffer to a transport, also after an earlier attempt has failed. `resume` is called once for each
    /// `read(into:)` that returned `.wait`, when there are bytes or the bytes end.
    package func attach(resume: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.resume = resume
            state.isTransportWaiting = false
            state.failure = nil
        }
    }

    /// Copies available bytes to `buffer`. Returns their number, or the reason why there are none.
    package func read(into buffer: UnsafeMutableRawBufferPointer) -> Step {
        state.withLock { state in
            let count = min(buffer.count, state.count)
            guard count > 0 else {
                if state.isFinished { return .end }
                state.isTransportWaiting = true
                return .wait
            }
            let start = state.bytes.startIndex + state.taken
            state.bytes[start..<(start + count)].copyBytes(to: buffer)
            state.taken += count
            if state.count == 0 {
                (state.bytes, state.taken) = (Data(), 0)
            } else if state.taken >= max(capacity, state.count) {
                // Writers may always be ahead of the transport. Moving fewer bytes than were taken keeps this cheap.
                (state.bytes, state.taken) = (Data(state.bytes.dropFirst(state.taken)), 0)
            }
            return .bytes(count)
        }
    }

    /// Ends the connection. Writers throw `error`, or `.connectionLost` if it is nil.
    package func detach(_ error: NetworkError? = nil) {
        state.withLock { state in
            if state.failure == nil { state.failure = error ?? Self.closed }
            state.resume = nil
            state.bytes = Data()
            state.taken = 0
        }
    }

    private static var closed: NetworkError {
        NetworkError(.connectionLost(.requestMayHaveArrived), detail: "The connection is closed.")
    }
}
