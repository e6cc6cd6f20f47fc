// SPDX-License-Identifier: MIT

#if os(Linux)
import CurlewCore
import CurlewHTTP
import CurlewFoundation

/// A buffer between the event loop's thread and the reader of a body.
///
/// At `capacity` bytes, the event loop stops receiving. The reader always takes all available bytes, and the event loop
/// then receives again. Bytes that arrive while the reader is not waiting are joined, so a slow reader receives few
/// large chunks. A waiting reader is resumed when a batch of bytes is available or libcurl has returned: resuming costs
/// more than receiving a TLS record, and libcurl receives many records before it returns.
final class BodyPipe: ResponseBodySource {
    private struct State {
        var account: BodyAccount
        var bytes: GatheredBody
        /// The size of the last chunk in bytes. The next chunk is usually about as large.
        var lastTaken = 0
        var trailers = HTTPHeaders()
        var reader: UnsafeContinuation<Data?, any Error>?

        /// Appends bytes. Reserves capacity for a complete batch only if the chunks are large, because a reader may
        /// keep its chunks.
        mutating func append(_ piece: UnsafeRawBufferPointer, memory: BodyMemory) {
            // The last piece from libcurl, at most a sixteenth of a batch, may exceed the batch, so there must be room
            // for it.
            let isMuch = max(lastTaken, bytes.count) >= BodyMemory.minimumSize
            bytes.append(piece, of: isMuch ? Int64(account.batch + account.batch / 16) : nil, memory: memory)
        }

        /// Returns the waiting reader and its result if `step` resumes it, or nil if it does not.
        mutating func delivery(after step: BodyAccount.Step) -> Delivery? {
            let result: Result<Data?, NetworkError>?
            switch step {
            case .deliver, .deliverAndResume:
                lastTaken = bytes.count
                result = .success(bytes.take())
            case .end: result = account.end?.map { nil }
            case .wait, .due, .pause, .late: result = nil
            }
            // The account has dropped the bytes, so the pipe must not keep them.
            if account.waiting == 0, bytes.count > 0 { bytes = GatheredBody() }
            guard let result, let reader else { return nil }
            self.reader = nil
            return Delivery(reader: reader, result: result)
        }
    }

    private struct Delivery: Sendable {
        let reader: UnsafeContinuation<Data?, any Error>
        let result: Result<Data?, NetworkError>
    }

    private let state: Locked<State>
    private let memory: BodyMemory
    private let transfer: Transfer

    init(_ transfer: Transfer, first: GatheredBody, capacity: Int, memory: BodyMemory) {
        self.transfer = transfer
        self.memory = memory
        let account = BodyAccount(capacity: capacity, batch: 256 << 10, waiting: first.count)
        state = Locked(State(account: account, bytes: first))
    }

    /// Returns whether the buffer has capacity. If not, the reader resumes the transfer when it has taken the buffered
    /// bytes.
    func hasRoom() -> Bool { state.withLock { $0.account.hasRoom() } }

    /// Adds bytes from the event loop. Returns `.pause` if the bytes were not taken, and `.due` if `release` must be
    /// called when libcurl has returned.
    ///
    /// - `isForced`: the bytes are taken even without capacity, because libcurl cannot deliver them again.
    func offer(_ bytes: UnsafeRawBufferPointer, isForced: Bool = false) -> BodyAccount.Step {
        perform { state in
            let step = state.account.arrive(bytes.count, isForced: isForced)
            if step != .pause, step != .late { state.append(bytes, memory: memory) }
            return step
        }
    }

    /// Delivers the available bytes to a waiting reader.
    func release() { perform { $0.account.release() } }

    /// Ends the body. `trailers` are kept if the body is complete. Only the first end counts.
    func finish(_ end: Result<Void, NetworkError>, trailers: HTTPHeaders = [:]) {
        perform { state in
            if case .success = end { state.trailers = trailers }
            return state.account.finish(end)
        }
    }

    var trailers: HTTPHeaders { state.withLock { $0.trailers } }

    /// Returns the next chunk, or nil at the end of a complete body. Waits if no chunk is available and the body has
    /// not ended. Throws the error that ended an incomplete body.
    func next() async throws -> Data? {
        guard let loop = transfer.loop, loop.home.isHere else { throw HomeProcess.error(transfer.plan.request) }
        defer { transfer.noteArrival() }
        return try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { continuation in
                perform { state in
                    state.reader = continuation
                    return state.account.read()
                }
            }
        } onCancel: {
            cancel()
        }
    }

    /// Cancels the transfer. A waiting reader is resumed without waiting for the event loop.
    func cancel() {
        guard let loop = transfer.loop, loop.home.isHere else { return }
        if perform({ $0.account.abandon() }) != .late { loop.send(.cancel(transfer)) }
    }

    /// Applies an event to the state. A waiting reader is resumed after the lock is released.
    @discardableResult
    private func perform(_ event: (inout State) -> BodyAccount.Step) -> BodyAccount.Step {
        let (step, delivery) = state.withLock { state in
            let step = event(&state)
            return (step, state.delivery(after: step))
        }
        if step == .deliverAndResume { transfer.loop?.send(.resume(transfer)) }
        if let delivery {
            transfer.noteHandOver()
            delivery.reader.resume(with: delivery.result)
        }
        return step
    }
}
#endif
