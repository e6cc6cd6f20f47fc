// SPDX-License-Identifier: MIT

#if os(Linux)
import CurlewCore
import CurlewHTTP
import FoundationEssentials

/// A buffer between the event loop's thread and the reader of a body.
///
/// Bounded: at `capacity` bytes the loop stops receiving. The reader always takes all available bytes and thereby
/// resumes receiving. Bytes that arrive while the reader is not waiting are joined, so a slow reader receives few large
/// chunks. A waiting reader is resumed when a batch of bytes is available or libcurl has returned: resuming costs more
/// than receiving a TLS record, and libcurl receives many records before it returns.
final class BodyPipe: ResponseBodySource {
    private struct State {
        var account: BodyAccount
        var bytes: GatheredBody
        /// The size of the last chunk. The next is usually about as large.
        var lastTaken = 0
        var trailers = HTTPHeaders()
        var reader: UnsafeContinuation<Data?, any Error>?

        /// Appends bytes. If the chunks are large, reserves capacity for a whole batch, in steps, because a reader may
        /// keep its chunks.
        mutating func append(_ piece: UnsafeRawBufferPointer, memory: BodyMemory) {
            // A piece from libcurl, at most a sixteenth of a batch, may exceed the batch.
            let isMuch = max(lastTaken, bytes.count) >= BodyMemory.least
            bytes.append(piece, of: isMuch ? Int64(account.batch + account.batch / 16) : nil, memory: memory)
        }

        /// Returns the reader and its result if the step resumes it.
        mutating func news(after step: BodyAccount.Step) -> News? {
            let told: Result<Data?, NetworkError>?
            switch step {
            case .deliver, .deliverAndResume:
                lastTaken = bytes.count
                told = .success(bytes.take())
            case .end: told = account.end?.map { nil }
            case .wait, .due, .pause, .late: told = nil
            }
            // The account has dropped the bytes.
            if account.waiting == 0, bytes.count > 0 { bytes = GatheredBody() }
            guard let told, let reader else { return nil }
            self.reader = nil
            return News(reader: reader, told: told)
        }
    }

    private struct News: Sendable {
        let reader: UnsafeContinuation<Data?, any Error>
        let told: Result<Data?, NetworkError>
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

    /// Whether there is capacity. If false, the reader requests more when it has caught up.
    func hasRoom() -> Bool { state.withLock { $0.account.hasRoom() } }

    /// Adds bytes from the event loop. Returns `.pause` if they were not taken, and `.due` if `release` must be called
    /// when libcurl has returned.
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

    /// Ends the body, with these trailers if it is complete. The first end is kept.
    func finish(_ end: Result<Void, NetworkError>, trailers: HTTPHeaders = [:]) {
        perform { state in
            if case .success = end { state.trailers = trailers }
            return state.account.finish(end)
        }
    }

    var trailers: HTTPHeaders { state.withLock { $0.trailers } }

    /// Returns the next chunk. Waits unless a chunk is available or the body has ended.
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

    /// Ends the transfer and a waiting reader, without waiting for the event loop.
    func cancel() {
        guard let loop = transfer.loop, loop.home.isHere else { return }
        if perform({ $0.account.abandon() }) != .late { loop.send(.cancel(transfer)) }
    }

    /// Applies an event. The reader is resumed after the lock is released.
    @discardableResult
    private func perform(_ event: (inout State) -> BodyAccount.Step) -> BodyAccount.Step {
        let (step, news) = state.withLock { state in
            let step = event(&state)
            return (step, state.news(after: step))
        }
        if step == .deliverAndResume { transfer.loop?.send(.resume(transfer)) }
        if let news {
            transfer.noteHandOver()
            news.reader.resume(with: news.told)
        }
        return step
    }
}
#endif
