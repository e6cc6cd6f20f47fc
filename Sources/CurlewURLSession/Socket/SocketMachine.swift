// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// The state machine of one WebSocket task of URLSession, as a value without I/O.
///
///     opening ──▶ open ──▶ ended (the reason is known) ──▶ drained (every message was received)
///        └──────▶ over (refused, failed or cancelled)
///
/// URLSession reports the end of a connection in up to four ways: a receive call fails, a close frame is reported, the
/// task completes, and the properties of the task change. They come in any order, and some never come. So the machine
/// waits for the reason of a failed receive call, and for the last messages before a close frame. Both waits are
/// bounded: `isWaitingForEnd` becomes true, and the owner sends `.overdue` after a while.
///
/// The caller and the reader are resumed exactly once, whatever the order of events.
struct SocketMachine {
    /// A close frame.
    struct Closing: Equatable, Sendable {
        var code: WebSocketCloseCode
        var reason: String
    }

    /// The end of a connection: a close frame or an error.
    typealias End = Result<Closing, NetworkError>

    enum Event: Sendable {
        /// The server has switched protocols.
        case opened(TaskMachine.Head, subprotocol: String?)
        /// A receive call has returned a message.
        case received(WebSocketMessage)
        /// A receive call has failed. `end` is what the close code of the task says at this time; nil for no code.
        case notReceived(NetworkError, end: End?)
        /// URLSession has reported a close frame, or the lack of one.
        case closed(End)
        /// URLSession has finished the task. `head` is the response of a server that did not switch protocols.
        case completed(NetworkError?, head: TaskMachine.Head?, end: End?)
        /// The caller of the opening request was cancelled, or a deadline has passed.
        case abandoned(NetworkError)
        /// The transport is shutting down, or the connection cannot continue.
        case broken(NetworkError)
        case read
        /// The reader was cancelled.
        case stoppedReading
        case close(Closing)
        /// The client ends the connection immediately.
        case cancel
        /// The time for `isWaitingForEnd` has passed.
        case overdue
    }

    /// An operation on the task.
    enum Order: Equatable, Sendable {
        case receive
        case close(Closing)
        case cancel
    }

    /// The result of the opening request.
    enum Opening: Sendable {
        case opened(TaskMachine.Head, subprotocol: String?)
        /// The server has sent another response than 101.
        case refused(TaskMachine.Head)
        case failed(NetworkError)
    }

    struct Effects: Sendable {
        /// Resumes the caller of the opening request.
        var caller: Opening?
        /// Resumes the reader with a message, or with nil at the end.
        var reader: Result<WebSocketMessage?, NetworkError>?
        var orders: [Order] = []
        /// Resumes all waiting senders with this error.
        var senders: NetworkError?
    }

    private enum Phase {
        case opening
        case open
        case over
    }

    private var phase = Phase.opening
    private(set) var end: End?
    /// The error of a receive call that failed before the reason was known, and what the task's close code said then.
    private var failure: NetworkError?
    private var endAtFailure: End?
    /// Whether no further message will be received.
    private(set) var isDrained = false
    /// Whether a receive call is running.
    private var isReceiving = false
    private var hasReader = false
    /// The message that was received after its reader was cancelled.
    private var message: WebSocketMessage?
    private var sentClose: Closing?
    /// Whether the client has ended the connection while the close frame for a refused message was being sent.
    private var lingers = false
    private var hasRefusedMessage = false
    private var hasDeliveredEnd = false
    private var isByServer = false
    /// Whether URLSession has finished the task.
    private(set) var isComplete = false
    /// Whether the task was or should be cancelled.
    private(set) var isCancelled = false

    private let limit: Int
    private let subprotocols: [String]

    /// - `limit`: the maximum size of a message in bytes.
    /// - `subprotocols`: those that the request offers.
    init(limit: Int, subprotocols: [String] = []) {
        self.limit = limit
        self.subprotocols = subprotocols
    }

    /// Whether the opening request has no result yet.
    var isOpening: Bool { phase == .opening }

    /// Whether the connection is not open and will not be.
    var isOver: Bool { phase == .over || end != nil }

    /// The close frame with which the connection was closed; nil if there is none.
    var closing: Closing? { try? end?.get() }

    /// Whether something waits although the connection has ended: a reader for the reason, for the last message or for
    /// the end of the task, or the task for its close frame to be sent.
    var isWaitingForEnd: Bool {
        (hasReader && (hasDeliveredEnd || (end != nil) != isDrained)) || (lingers && !isComplete && !isCancelled)
    }

    /// Whether a reader waits. There can be only one.
    var isBeingRead: Bool { hasReader }

    /// The error of sending; nil while messages can be sent.
    var sendFailure: NetworkError? {
        if case .failure(let error) = end { return error }
        return phase == .open && end == nil && sentClose == nil ? nil : Self.closed(.requestNotSent)
    }

    mutating func handle(_ event: Event) -> Effects {
        var effects = Effects()
        switch event {
        case .opened(let head, let subprotocol): open(head, subprotocol, &effects)
        case .received(let message): receive(message, &effects)
        case .notReceived(let error, let end): notReceive(error, end, &effects)
        case .closed(let end): close(by: end, &effects)
        case .completed(let error, let head, let end): complete(error, head, end, &effects)
        case .abandoned(let error): if phase == .opening { fail(error, &effects) }
        case .broken(let error): stop(.failure(error), &effects)
        case .read: read(&effects)
        case .stoppedReading: hasReader = false
        case .close(let closing): close(closing, &effects)
        case .cancel: cancel(&effects)
        case .overdue: overdue(&effects)
        }
        return effects
    }
}

// MARK: The opening request

extension SocketMachine {
    private mutating func open(_ head: TaskMachine.Head, _ subprotocol: String?, _ effects: inout Effects) {
        guard phase == .opening else { return }
        if let subprotocol, !subprotocols.contains(subprotocol) {
            return fail(
                NetworkError(
                    .badResponse,
                    detail: "The WebSocket handshake failed: The server selected a subprotocol that was not offered."),
                &effects)
        }
        phase = .open
        effects.caller = .opened(head, subprotocol: subprotocol)
    }

    private mutating func fail(_ error: NetworkError, _ effects: inout Effects) {
        phase = .over
        effects.caller = .failed(error)
        cancelTask(&effects)
    }

    private mutating func complete(
        _ error: NetworkError?, _ head: TaskMachine.Head?, _ end: End?, _ effects: inout Effects
    ) {
        guard !isComplete else { return }
        isComplete = true
        switch phase {
        case .opening:
            phase = .over
            effects.caller = Self.refusal(error, head)
        case .open:
            // A receive call that is still running would have returned a message if there was one. URLSession may never
            // end it.
            if isReceiving { isDrained = true }
            settle(end.flatMap { Self.isLost($0) ? nil : $0 } ?? reason(error), &effects)
            proceed(&effects)
        case .over: break
        }
    }

    /// The result of an opening request whose task ended before the server switched protocols. Without a failure of
    /// the connection itself, it is the response.
    private static func refusal(_ error: NetworkError?, _ head: TaskMachine.Head?) -> Opening {
        let isResponse =
            switch error?.reason {
            // URLSession calls a redirect that was not followed, and a 401 without credentials, an error of its own.
            case nil, .badResponse?, .notAuthenticated?, .cancelled?: true
            default: false
            }
        if isResponse, let head, head.status != 101 { return .refused(head) }
        if head != nil, error.map({ $0.reason == .badResponse }) ?? true {
            return .failed(
                NetworkError(
                    .badResponse, detail: "The WebSocket handshake failed: The fields of the 101 response are invalid.",
                    underlying: error?.underlying))
        }
        return .failed(
            error
                ?? NetworkError(.badResponse, detail: "URLSession ended the task without opening the connection."))
    }
}

// MARK: Messages

extension SocketMachine {
    private mutating func read(_ effects: inout Effects) {
        guard phase == .open, !hasReader else { return }
        hasReader = true
        proceed(&effects)
    }

    private mutating func receive(_ message: WebSocketMessage, _ effects: inout Effects) {
        // URLSession may call a handler twice.
        guard isReceiving else { return }
        isReceiving = false
        guard phase == .open, !isDrained else { return }
        if message.count > limit {
            refuseMessage(Self.tooLarge(limit), &effects)
        } else {
            self.message = message
        }
        proceed(&effects)
    }

    private mutating func notReceive(_ error: NetworkError, _ end: End?, _ effects: inout Effects) {
        guard isReceiving else { return }
        isReceiving = false
        guard phase == .open, !isDrained else { return }
        isDrained = true
        if error.reason == .limitExceeded(.responseBody) {
            refuseMessage(error, &effects)
        } else {
            failure = error
            endAtFailure = end.flatMap { Self.isLost($0) ? nil : $0 }
        }
        proceed(&effects)
    }

    /// Closes the connection because of a message that is too large (RFC 6455 §7.4.1: 1009).
    private mutating func refuseMessage(_ error: NetworkError, _ effects: inout Effects) {
        close(Closing(code: .messageTooBig, reason: ""), &effects)
        hasRefusedMessage = true
        isDrained = true
        settle(.failure(error), &effects)
    }

    /// Resumes a waiting reader if there is a message or the end, and starts to receive otherwise.
    private mutating func proceed(_ effects: inout Effects) {
        guard hasReader else { return }
        if let message {
            self.message = nil
            hasReader = false
            effects.reader = .success(message)
        } else if let end, isDrained {
            // After the close frame of the server has been delivered, the reader waits for the end of the task:
            // URLSession still sends its own close frame.
            guard !hasDeliveredEnd || !isByServer || isComplete || isCancelled else { return }
            hasReader = false
            hasDeliveredEnd = true
            effects.reader = end.map { _ in nil }
        } else if !isReceiving, !isDrained {
            isReceiving = true
            effects.orders.append(.receive)
        }
    }
}

// MARK: The end

extension SocketMachine {
    private mutating func close(by end: End, _ effects: inout Effects) {
        switch phase {
        case .opening:
            fail(
                NetworkError(.badResponse, detail: "The WebSocket connection was closed before it was open."), &effects)
        case .open:
            // The failed receive call says more than a report that there was no close frame.
            settle(Self.isLost(end) ? reason(nil) : end, &effects)
            proceed(&effects)
        case .over: break
        }
    }

    private mutating func close(_ closing: Closing, _ effects: inout Effects) {
        guard phase == .open, end == nil, sentClose == nil, !isComplete else { return }
        sentClose = closing
        effects.orders.append(.close(closing))
    }

    /// Ends the connection or the opening request immediately. `last` is the reason if none is known.
    private mutating func stop(_ last: End, _ effects: inout Effects) {
        switch phase {
        case .opening:
            if case .failure(let error) = last { fail(error, &effects) }
        case .open:
            settle(last, &effects)
            isDrained = true
            message = nil
            cancelTask(&effects)
            proceed(&effects)
        case .over: break
        }
    }

    private mutating func cancel(_ effects: inout Effects) {
        if hasRefusedMessage, !isComplete, !isCancelled {
            lingers = true
        } else {
            stop(sentClose.map { .success($0) } ?? .failure(NetworkError(.cancelled)), &effects)
        }
    }

    private mutating func overdue(_ effects: inout Effects) {
        guard isWaitingForEnd else { return }
        settle(reason(nil), &effects)
        isDrained = true
        cancelTask(&effects)
        proceed(&effects)
    }

    /// Sets the reason of the end. Only the first one counts.
    private mutating func settle(_ end: End, _ effects: inout Effects) {
        guard self.end == nil else { return }
        self.end = end
        isByServer = sentClose == nil
        if case .failure(let error) = end {
            effects.senders = error
        } else {
            effects.senders = Self.closed(.requestMayHaveArrived)
        }
    }

    private mutating func cancelTask(_ effects: inout Effects) {
        guard !isComplete, !isCancelled else { return }
        isCancelled = true
        effects.orders.append(.cancel)
    }

    /// Whether an end says only that there was no close frame.
    private static func isLost(_ end: End) -> Bool {
        if case .failure(let error) = end { error.reason.isConnectionLost } else { false }
    }

    /// The reason of an end without a reported close frame. After the client's own close frame, URLSession does not say
    /// whether the server has replied, so a lost connection counts as closed.
    private func reason(_ error: NetworkError?) -> End {
        if let endAtFailure { return endAtFailure }
        let cause = failure ?? error
        if let sentClose, cause.map({ $0.reason == .cancelled || $0.reason.isConnectionLost }) ?? true {
            return .success(sentClose)
        }
        return .failure(cause ?? Self.lost)
    }

    static func tooLarge(_ limit: Int, underlying: (any Error)? = nil) -> NetworkError {
        NetworkError(
            .limitExceeded(.responseBody), detail: "The server sent a message of more than \(limit) bytes.",
            hint: "Raise WebSocket.Options.maximumMessageSize.", underlying: underlying)
    }

    /// The error of a connection that ended without a close frame.
    static let lost = NetworkError(
        .connectionLost(.requestMayHaveArrived), detail: "The WebSocket connection ended without a close frame.")

    private static func closed(_ delivery: NetworkError.Delivery) -> NetworkError {
        NetworkError(.connectionLost(delivery), detail: "The WebSocket connection is closed.")
    }
}

extension NetworkError.Reason {
    fileprivate var isConnectionLost: Bool {
        if case .connectionLost = self { true } else { false }
    }
}
