// SPDX-License-Identifier: MIT

#if os(Linux)
import CurlewCore
import CurlewHTTP
import FoundationEssentials

/// The bytes of one body between the event loop's thread and its reader.
///
/// Bounded: at `capacity` bytes the loop stops receiving, and the reader, who always takes everything that is there,
/// sets it going again. What arrives while nobody reads is joined, so a slow reader gets few large chunks. A reader who
/// waits is woken when a batch of bytes is there or libcurl has returned: waking costs more than receiving a record of
/// TLS, and libcurl receives many of them before it returns.
final class BodyPipe: ResponseBodySource {
    private struct State {
        var account: BodyAccount
        var bytes: GatheredBody
        /// The size of the last chunk: the next is mostly about as large.
        var lastTaken = 0
        var trailers = HTTPHeaders()
        var reader: UnsafeContinuation<Data?, any Error>?

        /// Where much has come, a whole batch will. In steps, because a reader may keep what it gets.
        mutating func append(_ piece: UnsafeRawBufferPointer, memory: BodyMemory) {
            // A piece of libcurl's, at most a sixteenth of a batch, goes beyond it.
            let isMuch = max(lastTaken, bytes.count) >= BodyMemory.least
            bytes.append(piece, of: isMuch ? Int64(account.batch + account.batch / 16) : nil, memory: memory)
        }

        /// The reader, and what it is told, if the step says so.
        mutating func news(after step: BodyAccount.Step) -> News? {
            let told: Result<Data?, NetworkError>?
            switch step {
            case .deliver, .deliverAndResume:
                lastTaken = bytes.count
                told = .success(bytes.take())
            case .end: told = account.end?.map { nil }
            case .wait, .due, .pause, .late: told = nil
            }
            // What was dropped.
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

    /// False while the reader is behind, who will ask to go on then.
    func hasRoom() -> Bool { state.withLock { $0.account.hasRoom() } }

    /// The event loop brings bytes. What becomes of them: `.pause` if nothing was taken, `.due` if `release` is to be
    /// called when libcurl has returned.
    ///
    /// - `isForced`: they are taken although there is no room, because they cannot be brought again.
    func offer(_ bytes: UnsafeRawBufferPointer, isForced: Bool = false) -> BodyAccount.Step {
        perform { state in
            let step = state.account.arrive(bytes.count, isForced: isForced)
            if step != .pause, step != .late { state.append(bytes, memory: memory) }
            return step
        }
    }

    /// Gives a reader who waits what there is.
    func release() { perform { $0.account.release() } }

    /// The event loop says that no more comes but, behind a complete body, these fields. The first end counts.
    func finish(_ end: Result<Void, NetworkError>, trailers: HTTPHeaders = [:]) {
        perform { state in
            if case .success = end { state.trailers = trailers }
            return state.account.finish(end)
        }
    }

    var trailers: HTTPHeaders { state.withLock { $0.trailers } }

    /// Waits for a chunk, unless there is one or the end has come.
    func next() async throws -> Data? {
        guard let loop = transfer.loop, loop.home.isHere else { throw HomeProcess.error(transfer.request) }
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

    /// Does what an event leads to. The reader hears of it when the lock is free.
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
