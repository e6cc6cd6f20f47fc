// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import Foundation

/// One task of URLSession as a value: what came of it, what its caller and its reader get, what the task should do.
///
/// A small answer is gathered and handed over whole; any other is handed over with its head, and its bytes are read
/// from here, as `BodyAccount` counts them. Each event leads to at most one effect, and whoever waits is told exactly
/// once, in whatever order events come: the task may end twice, or not at all, and may go on after it was told to stop.
struct TaskMachine {
    /// The head of an answer, as its caller gets it.
    struct Head: Equatable, Sendable {
        var status: HTTPStatus
        var headers: HTTPHeaders
        /// Bytes of the body, if the head tells and nothing decodes them.
        var length: Int64?
        /// Bytes on the wire of a body that is decoded, if the head tells.
        var codedLength: Int64?
    }

    /// How a body that nobody reads is kept from filling memory.
    enum Flow: Equatable, Sendable {
        /// The task is suspended at so many bytes, and resumed when they are read.
        case suspends(at: Int)
        /// The task cannot be slowed: at so many bytes the exchange fails.
        case fails(beyond: Int)
    }

    enum Event: Sendable {
        case head(Head)
        case data(Data)
        /// The server asks for credentials. URLSession has the whole answer, and would ask or wait now.
        case challenge
        /// URLSession is done with the task.
        case ended(NetworkError?)
        /// The exchange cannot go on: its caller was cancelled, its time is over, its transport ends.
        case broken(NetworkError)
        /// The reader wants the next chunk.
        case read
        /// Nobody will read on.
        case abandoned
    }

    enum Effect: Sendable {
        /// For the caller: a finished answer.
        case answer(Head, Data)
        /// For the caller: an answer whose body is still to come.
        case stream(Head)
        /// For the caller.
        case fail(NetworkError)
        /// For the reader: bytes, or the end.
        case chunk(Data?)
        /// For the reader.
        case breakOff(NetworkError)
    }

    /// Bytes that nobody has taken, and how many the account says there are.
    private var pending = Data()
    private var account: BodyAccount
    private var received: Int64 = 0
    private(set) var head: Head?
    /// The caller has an outcome.
    private(set) var isAnswered = false
    /// The task should be cancelled.
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

    /// The task should stand still.
    var wantsSuspension: Bool { account.isPaused }

    /// Nothing that comes from the task matters any more.
    var isEnded: Bool { account.end != nil }

    /// The beginning of the body, for an error.
    func excerpt(_ limit: Int) -> Data { pending.prefix(limit) }

    mutating func handle(_ event: Event) -> Effect? {
        // What the account does not count any more was handed over, or dropped.
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
        // Interim answers come before the one that counts; a second one after it would be the engine's mistake.
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
        // The caller may still wait for the head: then it has one that was larger than all it may be.
        let error = NetworkError(
            .limitExceeded(.responseBody),
            detail: "The reader of the body is more than \(bound) bytes behind, and URLSession on Linux cannot be "
                + "slowed.", hint: "Read faster, or use CurlTransport, which stops receiving instead.")
        wantsEnd = true
        _ = account.finish(.failure(error), droppingRest: true)
    }

    /// The first end counts.
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

    /// What the reader gets.
    private func effect(of step: BodyAccount.Step) -> Effect? {
        switch (step, account.end) {
        case (.deliver, _), (.deliverAndResume, _): .chunk(pending)
        case (.end, .failure(let error)): .breakOff(error)
        case (.end, _): .chunk(nil)
        default: nil
        }
    }

    /// URLSession has no complaint; the length still has to be what was declared.
    private func complete() -> Result<Void, NetworkError> {
        guard let length = head?.length, received < length else { return .success(()) }
        return .failure(
            NetworkError(
                .connectionLost(.requestMayHaveArrived),
                detail: "The body ended after \(received) of \(length) bytes."))
    }

    private static var headless: NetworkError {
        NetworkError(.badResponse, detail: "URLSession ended the task without the head of an answer.")
    }
}
