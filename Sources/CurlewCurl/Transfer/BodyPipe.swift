// SPDX-License-Identifier: MIT

#if os(Linux)
import CurlewCore
import CurlewHTTP
import FoundationEssentials

/// The bytes of one body between the event loop's thread and its reader.
///
/// Bounded: at `capacity` bytes the loop stops receiving, and the reader, who always takes everything that is there,
/// sets it going again. What arrives while nobody reads is joined, so a slow reader gets few large chunks. A reader who
/// waits is woken when `batch` bytes are there or libcurl has returned: waking costs more than receiving a record of
/// TLS, and libcurl receives many of them before it returns.
final class BodyPipe: ResponseBodySource {
    private struct State {
        var pending: GatheredBody
        /// The size of the last chunk: the next is mostly about as large.
        var lastTaken = 0
        var isPaused = false
        var end: Result<Void, NetworkError>?
        var trailers = HTTPHeaders()
        var reader: UnsafeContinuation<Data?, any Error>?

        /// Where much has come, a whole batch will. In steps, because a reader may keep what it gets.
        mutating func append(_ bytes: UnsafeRawBufferPointer, upTo batch: Int, memory: BodyMemory) {
            // A piece of libcurl's, at most a sixteenth of a batch, goes beyond it.
            let isMuch = max(lastTaken, pending.count) >= BodyMemory.least
            pending.append(bytes, of: isMuch ? Int64(batch + batch / 16) : nil, memory: memory)
        }

        mutating func take() -> Data {
            lastTaken = pending.count
            return pending.take()
        }

        /// The reader, if it waits and there is something for it.
        mutating func takeReader(above least: Int = 0) -> Waiting? {
            guard let reader, pending.count > least else { return nil }
            self.reader = nil
            return Waiting(reader: reader, chunk: take())
        }
    }

    private struct Waiting: Sendable {
        let reader: UnsafeContinuation<Data?, any Error>
        let chunk: Data
    }

    private let state: Locked<State>
    private let capacity: Int
    private let batch: Int
    private let memory: BodyMemory
    private let transfer: Transfer

    init(_ transfer: Transfer, first: GatheredBody, capacity: Int, memory: BodyMemory) {
        self.transfer = transfer
        self.capacity = capacity
        self.memory = memory
        batch = min(256 << 10, capacity)
        state = Locked(State(pending: first))
    }

    /// What became of bytes that were offered.
    enum Receipt {
        case taken
        /// A reader waits for them: `release` is to be called when libcurl has returned.
        case due
        /// There is no room: nothing was taken, and the reader will ask to go on.
        case refused
    }

    /// False while the reader is behind, who will ask to go on then.
    func hasRoom() -> Bool {
        state.withLock { state in
            if state.end != nil || state.pending.count < capacity { return true }
            state.isPaused = true
            return false
        }
    }

    /// The event loop brings bytes.
    ///
    /// - `isForced`: they are taken although there is no room, because they cannot be brought again.
    func offer(_ bytes: UnsafeRawBufferPointer, isForced: Bool = false) -> Receipt {
        let (receipt, waiting) = state.withLock { state -> (Receipt, Waiting?) in
            // The reader has been told, and what it had not taken may be gone: this must not seem to be what follows.
            if state.end != nil { return (.taken, nil) }
            guard state.pending.count < capacity || isForced else {
                state.isPaused = true
                return (.refused, nil)
            }
            state.append(bytes, upTo: batch, memory: memory)
            guard state.reader != nil else { return (.taken, nil) }
            let waiting = state.takeReader(above: batch - 1)
            return (waiting == nil ? .due : .taken, waiting)
        }
        resume(waiting)
        return receipt
    }

    /// Gives a reader who waits what there is.
    func release() {
        resume(state.withLock { $0.takeReader() })
    }

    private func resume(_ waiting: Waiting?) {
        guard let waiting else { return }
        transfer.noteHandOver()
        waiting.reader.resume(returning: waiting.chunk)
    }

    /// The fields after the body, told before its end.
    func note(trailers: HTTPHeaders) {
        state.withLock { $0.trailers = trailers }
    }

    var trailers: HTTPHeaders { state.withLock { $0.trailers } }

    /// The event loop says that no more comes. The first word counts: false if there was one before.
    @discardableResult
    func finish(_ end: Result<Void, NetworkError>, droppingRest: Bool = false) -> Bool {
        let (isFirst, waiting, reader) = state.withLock {
            state -> (Bool, Waiting?, UnsafeContinuation<Data?, any Error>?) in
            guard state.end == nil else { return (false, nil, nil) }
            state.end = end
            if droppingRest { state.pending = GatheredBody() }
            let waiting = state.takeReader()
            defer { state.reader = nil }
            return (true, waiting, state.reader)
        }
        // Who gets the last bytes hears of the end when it asks again.
        resume(waiting)
        transfer.noteHandOver()
        switch end {
        case .success: reader?.resume(returning: nil)
        case .failure(let error): reader?.resume(throwing: error)
        }
        return isFirst
    }

    /// Waits for a chunk, unless there is one or the end has come.
    func next() async throws -> Data? {
        guard let loop = transfer.loop, loop.home.isHere else { throw HomeProcess.error(transfer.request) }
        defer { transfer.noteArrival() }
        return try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { continuation in
                let step = state.withLock { state -> Step in
                    if state.pending.count > 0 {
                        defer { state.isPaused = false }
                        return .chunk(state.take(), mustResume: state.isPaused)
                    }
                    if let end = state.end { return .end(end) }
                    state.reader = continuation
                    return .wait
                }
                switch step {
                case .chunk(let chunk, let mustResume):
                    if mustResume { loop.send(.resume(transfer)) }
                    continuation.resume(returning: chunk)
                case .end(.success): continuation.resume(returning: nil)
                case .end(.failure(let error)): continuation.resume(throwing: error)
                case .wait: break
                }
            }
        } onCancel: {
            cancel()
        }
    }

    /// Ends the transfer and a waiting reader, without waiting for the event loop.
    func cancel() {
        guard let loop = transfer.loop, loop.home.isHere else { return }
        if finish(.failure(NetworkError(.cancelled)), droppingRest: true) { loop.send(.cancel(transfer)) }
    }

    private enum Step {
        case chunk(Data, mustResume: Bool)
        case end(Result<Void, NetworkError>)
        case wait
    }
}
#endif
