// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import Foundation

/// One task of URLSession as a value: what came of it, what its caller and its reader get, what the task should do.
///
///     gathering ──▶ streaming ──▶ over
///         │                        ▲
///         └────────────────────────┘
///
/// A small answer is gathered and handed over whole; any other is handed over with its head, and its bytes are read
/// from here. Each event leads to at most one effect, and whoever waits is told exactly once, in whatever order events
/// come: the task may end twice, or not at all, and may go on after it was told to stop.
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

    private enum Phase {
        case gathering(Head?)
        case streaming(isRead: Bool)
        case over
    }

    private var phase = Phase.gathering(nil)
    /// Bytes that nobody has taken.
    private var pending = Data()
    /// How the body ended; it is told when the pending bytes are gone.
    private var end: Result<Void, NetworkError>?
    private var received: Int64 = 0
    private(set) var head: Head?
    /// The task should be cancelled.
    private(set) var wantsEnd = false
    /// The task should stand still.
    private(set) var wantsSuspension = false

    private let flow: Flow
    private let smallBody: Int
    private let streams: Bool
    private let limits: Limits

    init(flow: Flow, smallBody: Int, streams: Bool, limits: Limits = .standard) {
        self.limits = limits
        self.flow = flow
        self.smallBody = streams ? 0 : smallBody
        self.streams = streams
    }

    /// The caller has an outcome.
    var isAnswered: Bool { if case .gathering = phase { false } else { true } }

    /// Nothing that comes from the task matters any more.
    var isEnded: Bool { if case .over = phase { true } else { end != nil } }

    /// The beginning of the body, for an error.
    func excerpt(_ limit: Int) -> Data { pending.prefix(limit) }

    mutating func handle(_ event: Event) -> Effect? {
        switch event {
        case .head(let head): receive(head)
        case .data(let data): data.isEmpty ? nil : receive(data)
        case .challenge: finish(.success(()), stopping: true)
        case .ended(nil): finish(complete(), stopping: false)
        case .ended(let error?): finish(.failure(error), stopping: false)
        case .broken(let error): finish(.failure(error), stopping: true, droppingRest: true)
        case .read: read()
        case .abandoned: finish(.failure(NetworkError(.cancelled)), stopping: true, droppingRest: true)
        }
    }

    private mutating func receive(_ head: Head) -> Effect? {
        // Interim answers come before the one that counts; a second one after it would be the engine's mistake.
        let isInterim = head.status.isInformational && head.status.code != 101
        guard case .gathering(nil) = phase, !isInterim else { return nil }
        self.head = head
        phase = .gathering(head)
        guard streams || head.status.isPrelude else { return nil }
        phase = .streaming(isRead: false)
        return .stream(head)
    }

    private mutating func receive(_ data: Data) -> Effect? {
        guard !isEnded else { return nil }
        received += Int64(data.count)
        if let coded = head?.codedLength, let error = limits.growthFailure(decoded: received, coded: coded) {
            return finish(.failure(error), stopping: true, droppingRest: true)
        }
        switch phase {
        case .gathering(let head?):
            pending.append(data)
            guard pending.count > smallBody else { return nil }
            phase = .streaming(isRead: false)
            return keepWithinBounds() ?? .stream(head)
        case .gathering(nil):
            return finish(.failure(Self.headless), stopping: true)
        case .streaming(isRead: true):
            phase = .streaming(isRead: false)
            return .chunk(data)
        case .streaming(isRead: false):
            pending.append(data)
            return keepWithinBounds()
        case .over:
            return nil
        }
    }

    private mutating func keepWithinBounds() -> Effect? {
        switch flow {
        case .suspends(let mark):
            wantsSuspension = pending.count >= mark
            return nil
        case .fails(let bound):
            guard pending.count > bound else { return nil }
            // The caller may still wait for the head: then it has one that was larger than all it may be.
            let error = NetworkError(
                .limitExceeded(.responseBody),
                detail: "The reader of the body is more than \(bound) bytes behind, and URLSession on Linux cannot be "
                    + "slowed.", hint: "Read faster, or use CurlTransport, which stops receiving instead.")
            return finish(.failure(error), stopping: true, droppingRest: true)
        }
    }

    private mutating func read() -> Effect? {
        guard case .streaming = phase else {
            if case .over = phase, case .failure(let error)? = end { return .breakOff(error) }
            return .chunk(nil)
        }
        wantsSuspension = false
        if !pending.isEmpty {
            defer { pending = Data() }
            return .chunk(pending)
        }
        guard let end else {
            phase = .streaming(isRead: true)
            return nil
        }
        phase = .over
        return Self.last(end)
    }

    /// The first end counts.
    private mutating func finish(
        _ result: Result<Void, NetworkError>, stopping: Bool, droppingRest: Bool = false
    ) -> Effect? {
        guard !isEnded else {
            // An abandoned body may still hold bytes of a transfer that is complete.
            if droppingRest, case .streaming(let isRead) = phase, !isRead { drop(result) }
            return nil
        }
        wantsEnd = stopping
        wantsSuspension = false
        end = result
        switch phase {
        case .gathering(let head):
            phase = .over
            switch (result, head) {
            case (.success, let head?):
                defer { pending = Data() }
                return .answer(head, pending)
            case (.success, nil): return .fail(Self.headless)
            case (.failure(let error), _): return .fail(error)
            }
        case .streaming(isRead: true):
            phase = .over
            return Self.last(result)
        case .streaming(isRead: false):
            if droppingRest { pending = Data() }
            return nil
        case .over:
            return nil
        }
    }

    private mutating func drop(_ result: Result<Void, NetworkError>) {
        pending = Data()
        end = result
    }

    /// URLSession has no complaint; the length still has to be what was declared.
    private func complete() -> Result<Void, NetworkError> {
        guard let length = head?.length, received < length else { return .success(()) }
        return .failure(
            NetworkError(
                .connectionLost(.requestMayHaveArrived),
                detail: "The body ended after \(received) of \(length) bytes."))
    }

    private static func last(_ end: Result<Void, NetworkError>) -> Effect {
        switch end {
        case .success: .chunk(nil)
        case .failure(let error): .breakOff(error)
        }
    }

    private static var headless: NetworkError {
        NetworkError(.badResponse, detail: "URLSession ended the task without the head of an answer.")
    }
}
