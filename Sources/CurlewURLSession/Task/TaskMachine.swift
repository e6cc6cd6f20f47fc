// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import Foundation

/// The state machine of one URLSession task: the received data, the results for its caller and its reader, and the
/// desired state of the task.
///
/// A small response is gathered and delivered whole. Any other response is delivered with its head, and its body is
/// read from here, as `BodyAccount` counts it. Each event causes at most one effect. The caller and the reader are
/// resumed exactly once, in whatever order events arrive: the task may end twice or never, and may continue after it
/// was cancelled.
struct TaskMachine {
    /// The head of a response, as delivered to the caller.
    struct Head: Equatable, Sendable {
        var status: HTTPStatus
        var headers: HTTPHeaders
        /// The length of the body in bytes, if the head declares it and the body is not decoded.
        var length: Int64?
        /// The encoded length of a decoded body, if the head declares it.
        var codedLength: Int64?
    }

    /// How the memory for an unread body is limited.
    enum Flow: Equatable, Sendable {
        /// The task is suspended at this number of bytes, and resumed when they are read.
        case suspends(at: Int)
        /// The task cannot be slowed: the exchange fails at this number of bytes.
        case fails(beyond: Int)
    }

    enum Event: Sendable {
        case head(Head)
        case data(Data)
        /// The server requires credentials. URLSession has the whole response, and would challenge or wait now.
        case challenge
        /// URLSession has finished the task.
        case ended(NetworkError?)
        /// The exchange cannot continue: its caller was cancelled, a deadline has passed, or its transport ends.
        case broken(NetworkError)
        /// The reader requests the next chunk.
        case read
        /// The body will not be read further.
        case abandoned
    }

    enum Effect: Sendable {
        /// Delivers a complete response to the caller.
        case answer(Head, Data)
        /// Delivers a response to the caller before its body.
        case stream(Head)
        /// Throws an error to the caller.
        case fail(NetworkError)
        /// Delivers bytes, or the end, to the reader.
        case chunk(Data?)
        /// Throws an error to the reader.
        case breakOff(NetworkError)
    }

    /// The bytes that were not taken, and the account of their number.
    private var pending = Data()
    private var account: BodyAccount
    private var received: Int64 = 0
    private(set) var head: Head?
    /// Whether the caller has an outcome.
    private(set) var isAnswered = false
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

    /// Whether further events of the task are ignored.
    var isEnded: Bool { account.end != nil }

    /// Returns the beginning of the body, for an error.
    func excerpt(_ limit: Int) -> Data { pending.prefix(limit) }

    mutating func handle(_ event: Event) -> Effect? {
        // Bytes that the account no longer counts were delivered or dropped.
        defer { if account.waiting == 0 { pending = Data() } }
        return switch event {
        case .head(let head): receive(head)
        case .data(let data): data.isEmpty ? nil : receive(data)
        case .challenge: finish(.success(()), stopping: true)
        case .ended(nil): finish(complete(), stopping: false)
        case .ended(let error?): finish(.failure(error), stopping: false)
        case .broken(let error): finish(.failure(error), stopping: true, droppingRest: true)
        case .read: isAnswered ? effect(of: account.read()) : .chunk(nil)
        case .abandoned: follow(account.abandon(), stopping: true)
        }
    }

    private mutating func receive(_ head: Head) -> Effect? {
        // Interim responses precede the final response. A second final response would be an error of URLSession.
        let isInterim = head.status.isInformational && head.status.code != 101
        guard self.head == nil, !isAnswered, !isInterim else { return nil }
        self.head = head
        isAnswered = streams || head.status.isPrelude
        return isAnswered ? .stream(head) : nil
    }

    private mutating func receive(_ data: Data) -> Effect? {
        guard !isEnded else { return nil }
        guard let head else { return finish(.failure(Self.headless), stopping: true) }
        received += Int64(data.count)
        if let coded = head.codedLength, let error = limits.growthFailure(decoded: received, coded: coded) {
            return finish(.failure(error), stopping: true, droppingRest: true)
        }
        if pending.isEmpty { pending = data } else { pending.append(data) }
        let step = account.arrive(data.count, isForced: true)
        guard isAnswered || account.waiting > smallBody else { return nil }
        let isFirst = !isAnswered
        isAnswered = true
        keepWithinBounds()
        return isFirst ? .stream(head) : effect(of: step)
    }

    private mutating func keepWithinBounds() {
        guard account.hasRoom(), case .fails(let bound) = flow, account.waiting > bound else { return }
        // The caller may still be waiting for the head. The response then exceeds its maximum size.
        let error = NetworkError(
            .limitExceeded(.responseBody),
            detail: "The reader of the body is more than \(bound) bytes behind, and URLSession on Linux cannot be "
                + "slowed.", hint: "Read faster, or use CurlTransport, which stops receiving instead.")
        wantsEnd = true
        _ = account.finish(.failure(error), droppingRest: true)
    }

    /// Ends the exchange. The first end is kept.
    private mutating func finish(
        _ result: Result<Void, NetworkError>, stopping: Bool, droppingRest: Bool = false
    ) -> Effect? {
        follow(account.finish(result, droppingRest: droppingRest), stopping: stopping)
    }

    private mutating func follow(_ step: BodyAccount.Step, stopping: Bool) -> Effect? {
        guard step != .late else { return nil }
        wantsEnd = stopping
        guard !isAnswered else { return effect(of: step) }
        isAnswered = true
        _ = account.read()
        return switch (account.end, head) {
        case (.failure(let error), _): .fail(error)
        case (_, let head?): .answer(head, pending)
        case (_, nil): .fail(Self.headless)
        }
    }

    /// Returns the effect for the reader.
    private func effect(of step: BodyAccount.Step) -> Effect? {
        switch (step, account.end) {
        case (.deliver, _), (.deliverAndResume, _): .chunk(pending)
        case (.end, .failure(let error)): .breakOff(error)
        case (.end, _): .chunk(nil)
        default: nil
        }
    }

    /// Checks the received length against the declared length after URLSession has reported success.
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
