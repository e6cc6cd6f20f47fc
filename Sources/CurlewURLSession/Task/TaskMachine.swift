// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import Foundation

/// The state machine of one URLSession task, as a value without I/O. It holds the received data, the results for the
/// caller and the reader, and the desired state of the task.
///
/// A small response is collected and delivered in one piece. Any other response is delivered when its head has arrived,
/// and the reader takes its body from here, within the limits of `BodyAccount`. Each event causes at most one effect.
/// The caller and the reader are resumed exactly once, whatever the order of events: URLSession may end a task twice or
/// never, or continue a task that has been cancelled.
struct TaskMachine {
    /// The head of a response, as delivered to the caller.
    struct Head: Equatable, Sendable {
        var status: HTTPStatus
        var headers: HTTPHeaders
        /// The length of the body in bytes, if the head declares it and URLSession does not decode the body.
        var length: Int64?
        /// The encoded length in bytes of a body that URLSession decodes, if the head declares it.
        var codedLength: Int64?
    }

    /// The flow control for the unread part of a body.
    enum Flow: Equatable, Sendable {
        /// The task is suspended when this number of bytes is unread, and resumed when they have been read.
        case suspends(at: Int)
        /// The exchange fails when more than this number of bytes is unread, because the task cannot be suspended.
        case fails(beyond: Int)
    }

    enum Event: Sendable {
        case head(Head)
        case data(Data)
        /// The server requires credentials. URLSession has received the complete response, and would challenge again or
        /// wait.
        case challenge
        /// URLSession has finished the task, with an error if it failed.
        case ended(NetworkError?)
        /// The exchange cannot continue: the caller was cancelled, a deadline has passed, or the transport is shutting
        /// down.
        case broken(NetworkError)
        /// The reader requests the next chunk.
        case read
        /// The reader will not read the rest of the body.
        case abandoned
    }

    enum Effect: Sendable {
        /// Returns a complete response to the caller.
        case respond(Head, Data)
        /// Returns a response to the caller before its body has arrived.
        case stream(Head)
        /// Throws an error to the caller.
        case fail(NetworkError)
        /// Returns bytes to the reader, or nil at the end of the body.
        case chunk(Data?)
        /// Throws an error to the reader.
        case breakOff(NetworkError)
    }

    /// The bytes that the reader has not taken, and the account that counts them.
    private var pending = Data()
    private var account: BodyAccount
    private var received: Int64 = 0
    private(set) var head: Head?
    /// Whether the caller has its response or error.
    private(set) var hasResult = false
    /// Whether the task should be cancelled.
    private(set) var wantsEnd = false

    private let flow: Flow
    private let smallBody: Int
    private let streams: Bool
    private let limits: Limits

    init(flow: Flow, smallBody: Int, streams: Bool, limits: Limits = .standard) {
        self.limits = limits
        self.flow = flow
        self.smallBody = smallBody
        self.streams = streams
        account =
            switch flow {
            case .suspends(let mark): BodyAccount(capacity: mark)
            case .fails: BodyAccount(capacity: .max)
            }
    }

    /// Whether the task should be suspended.
    var wantsSuspension: Bool { account.isPaused }

    /// Whether the exchange has ended, so that further events of the task are ignored.
    var isEnded: Bool { account.end != nil }

    /// Returns up to `limit` bytes of the unread body, for an error.
    func excerpt(_ limit: Int) -> Data { pending.prefix(limit) }

    mutating func handle(_ event: Event) -> Effect? {
        // When the account counts no unread bytes, all bytes have been delivered or dropped.
        defer { if account.waiting == 0 { pending = Data() } }
        return switch event {
        case .head(let head): receive(head)
        case .data(let data): data.isEmpty ? nil : receive(data)
        case .challenge: finish(.success(()), stopping: true)
        case .ended(nil): finish(complete(), stopping: false)
        case .ended(let error?): finish(.failure(error), stopping: false)
        case .broken(let error): finish(.failure(error), stopping: true, droppingRemainder: true)
        case .read: hasResult ? effect(of: account.read()) : .chunk(nil)
        case .abandoned: follow(account.abandon(), stopping: true)
        }
    }

    private mutating func receive(_ head: Head) -> Effect? {
        // Interim responses precede the final response. A second final response is an error of URLSession and is
        // ignored.
        let isInterim = head.status.isInformational && head.status.code != 101
        guard self.head == nil, !hasResult, !isInterim else { return nil }
        self.head = head
        hasResult = streams || head.status.isPrelude
        return hasResult ? .stream(head) : nil
    }

    private mutating func receive(_ data: Data) -> Effect? {
        guard !isEnded else { return nil }
        guard let head else { return finish(.failure(Self.headless), stopping: true) }
        received += Int64(data.count)
        if let coded = head.codedLength, let error = limits.growthFailure(decoded: received, coded: coded) {
            return finish(.failure(error), stopping: true, droppingRemainder: true)
        }
        if pending.isEmpty { pending = data } else { pending.append(data) }
        let step = account.arrive(data.count, isForced: true)
        guard hasResult || account.waiting > smallBody else { return nil }
        let isFirst = !hasResult
        hasResult = true
        keepWithinBounds()
        return isFirst ? .stream(head) : effect(of: step)
    }

    private mutating func keepWithinBounds() {
        guard account.hasRoom(), case .fails(let bound) = flow, account.waiting > bound else { return }
        // The caller may still be waiting for the head. It then receives a response whose body fails.
        let error = NetworkError(
            .limitExceeded(.responseBody),
            detail: "The reader of the body is more than \(bound) bytes behind, and URLSession on Linux cannot be "
                + "slowed.", hint: "Read faster, or use CurlTransport, which stops receiving instead.")
        wantsEnd = true
        _ = account.finish(.failure(error), droppingRemainder: true)
    }

    /// Ends the exchange. Does nothing if it has already ended.
    private mutating func finish(
        _ result: Result<Void, NetworkError>, stopping: Bool, droppingRemainder: Bool = false
    ) -> Effect? {
        follow(account.finish(result, droppingRemainder: droppingRemainder), stopping: stopping)
    }

    private mutating func follow(_ step: BodyAccount.Step, stopping: Bool) -> Effect? {
        guard step != .late else { return nil }
        wantsEnd = stopping
        guard !hasResult else { return effect(of: step) }
        hasResult = true
        _ = account.read()
        return switch (account.end, head) {
        case (.failure(let error), _): .fail(error)
        case (_, let head?): .respond(head, pending)
        case (_, nil): .fail(Self.headless)
        }
    }

    /// Returns the effect that a step of the account has on the reader.
    private func effect(of step: BodyAccount.Step) -> Effect? {
        switch (step, account.end) {
        case (.deliver, _), (.deliverAndResume, _): .chunk(pending)
        case (.end, .failure(let error)): .breakOff(error)
        case (.end, _): .chunk(nil)
        default: nil
        }
    }

    /// Compares the received length with the declared length after URLSession has reported success.
    private func complete() -> Result<Void, NetworkError> {
        guard let length = head?.length, received < length else { return .success(()) }
        return .failure(
            NetworkError(
                .connectionLost(.requestMayHaveArrived),
                detail: "The body ended after \(received) of \(length) bytes."))
    }

    private static var headless: NetworkError {
        NetworkError(.badResponse, detail: "URLSession ended the task without a response head.")
    }
}
