// SPDX-License-Identifier: MIT

#if os(Linux)
import CurlewCore
import FoundationEssentials

/// The bytes of one body between the agent's thread and its reader.
///
/// Bounded: at `capacity` bytes the agent stops receiving, and the reader, who always takes everything that is there,
/// sets it going again. What arrives while nobody reads is joined, so a slow reader gets few large chunks.
final class BodyPipe: ResponseBodySource {
    private struct State {
        var pending = Data()
        var isPaused = false
        var end: Result<Void, NetworkError>?
        var reader: UnsafeContinuation<Data?, any Error>?
    }

    private let state: Locked<State>
    private let capacity: Int
    private let transfer: Transfer

    init(_ transfer: Transfer, first: Data, capacity: Int) {
        self.transfer = transfer
        self.capacity = capacity
        state = Locked(State(pending: first))
    }

    /// The agent brings bytes. False when there is no room: nothing was taken, and the reader will ask to go on.
    func offer(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let (taken, reader, chunk) = state.withLock {
            state -> (Bool, UnsafeContinuation<Data?, any Error>?, Data) in
            guard state.pending.count < capacity else {
                state.isPaused = true
                return (false, nil, Data())
            }
            guard let reader = state.reader else {
                state.pending.append(contentsOf: bytes)
                return (true, nil, Data())
            }
            state.reader = nil
            return (true, reader, Data(bytes))
        }
        transfer.noteHandOver()
        reader?.resume(returning: chunk)
        return taken
    }

    /// The agent says that no more comes. The first word counts: false if there was one before.
    @discardableResult
    func finish(_ end: Result<Void, NetworkError>, droppingRest: Bool = false) -> Bool {
        let (isFirst, reader) = state.withLock { state -> (Bool, UnsafeContinuation<Data?, any Error>?) in
            guard state.end == nil else { return (false, nil) }
            state.end = end
            if droppingRest { state.pending = Data() }
            defer { state.reader = nil }
            return (true, state.reader)
        }
        // A waiting reader has taken all bytes before: it waits because there are none.
        transfer.noteHandOver()
        switch end {
        case .success: reader?.resume(returning: nil)
        case .failure(let error): reader?.resume(throwing: error)
        }
        return isFirst
    }

    func next() async throws -> Data? {
        guard transfer.agent.home.isHere else { throw HomeProcess.error(transfer.request) }
        defer { transfer.noteArrival() }
        return try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { continuation in
                let step = state.withLock { state -> Step in
                    if !state.pending.isEmpty {
                        let chunk = state.pending
                        state.pending = Data()
                        let mustResume = state.isPaused
                        state.isPaused = false
                        return .chunk(chunk, mustResume: mustResume)
                    }
                    if let end = state.end { return .end(end) }
                    state.reader = continuation
                    return .wait
                }
                switch step {
                case .chunk(let chunk, let mustResume):
                    if mustResume { transfer.agent.resume(transfer) }
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

    /// Ends the transfer and a waiting reader, without waiting for the agent.
    func cancel() {
        guard transfer.agent.home.isHere else { return }
        if finish(.failure(NetworkError(.cancelled)), droppingRest: true) { transfer.agent.cancel(transfer) }
    }

    private enum Step {
        case chunk(Data, mustResume: Bool)
        case end(Result<Void, NetworkError>)
        case wait
    }
}
#endif
