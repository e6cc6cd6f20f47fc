// SPDX-License-Identifier: MIT

import CurlewCaching
import CurlewCore
import CurlewFoundation

/// Writes one entry. Collects a body of up to 64 KiB in memory, and writes a larger body to a file.
final class SQLiteCacheWriter: HTTPCache.Entry.Writer {
    private struct State {
        var collected = Data()
        var file: BodyFile?
        var count: Int64 = 0
        var sum: Checksum
        var isOver = false
    }

    private let response: HTTPCache.Entry
    private let store: HTTPCache.SQLiteStore
    private let start: Int64
    private let state: Locked<State>

    init(_ response: HTTPCache.Entry, to store: HTTPCache.SQLiteStore, since start: Int64) {
        self.response = response
        self.store = store
        self.start = start
        state = Locked(State(sum: Checksum(seed: response.id.number)))
    }

    deinit { abandon() }

    func append(_ chunk: Data) async throws -> Bool {
        guard take(chunk) else {
            abandon()
            return false
        }
        let (file, collected, offset) = state.withLock { state -> (BodyFile?, Data?, Int64) in
            let before = state.count - Int64(chunk.count)
            if state.file == nil, state.count <= Int64(HTTPCache.SQLiteStore.insideLimit) {
                state.collected.append(chunk)
                return (nil, nil, before)
            }
            defer { state.collected = Data() }
            return (state.file, state.file == nil ? state.collected : nil, before)
        }
        do {
            if let file {
                try await store.queue.withFiles { try file.append(chunk, at: offset) }
            } else if let collected {
                try await spill(collected + chunk)
            }
            return true
        } catch {
            abandon()
            throw error
        }
    }

    private func spill(_ bytes: Data) async throws {
        let file = try await store.queue.withFiles { [store, response] in
            let file = try store.folder.create(response.id)
            do {
                try file.append(bytes, at: 0)
            } catch {
                store.folder.remove(response.id)
                throw error
            }
            return file
        }
        let isOver = state.withLock { state in
            state.file = file
            return state.isOver
        }
        if isOver { store.folder.remove(response.id) }
    }

    private func take(_ chunk: Data) -> Bool {
        let count = Int64(chunk.count)
        return state.withLock { state in
            guard !state.isOver, state.count + count <= store.bodyLimit, store.reserve(count) else { return false }
            state.count += count
            state.sum.add(chunk)
            return true
        }
    }

    func commit(replacing others: [HTTPCache.Entry.ID]) async throws -> Bool {
        let state = end()
        guard let state else { return false }
        defer { store.release(state.count) }
        let body = CacheTable.Body(
            bytes: state.file == nil ? state.collected : nil, length: state.count, sum: state.sum.value)
        guard let file = state.file else {
            return try await store.commit(response, body, replacing: others, since: start)
        }
        // The file keeps its lock until the entry is visible, so that it does not count as left behind.
        defer { withExtendedLifetime(file) {} }
        do {
            try await store.queue.withFiles { try file.synchronize() }
            let isDone = try await store.commit(response, body, replacing: others, since: start)
            if !isDone { removeFile() }
            return isDone
        } catch {
            removeFile()
            throw error
        }
    }

    func abandon() {
        guard let state = end() else { return }
        store.release(state.count)
        if state.file != nil { removeFile() }
    }

    /// Ends the writer and returns its state; nil if it has already ended.
    private func end() -> State? {
        state.withLock { state -> State? in
            guard !state.isOver else { return nil }
            let result = state
            state = State(sum: state.sum, isOver: true)
            return result
        }
    }

    private func removeFile() {
        store.queue.later { [folder = store.folder, id = response.id] in folder.remove(id) }
    }
}

/// An opened body: bytes in memory, or an open file, which stays readable after its name is removed.
final class SQLiteCacheBody: HTTPCache.Entry.Body {
    let length: Int64
    let bytes: Data?

    private let file: Locked<BodyFile?>
    private let queue: DatabaseQueue?

    /// The maximum number of bytes that one read of a file returns.
    static let maximumRead = 1 << 20

    init(_ bytes: Data) {
        length = Int64(bytes.count)
        self.bytes = bytes
        file = Locked(nil)
        queue = nil
    }

    init(_ file: BodyFile, length: Int64, queue: DatabaseQueue) {
        self.length = length
        bytes = nil
        self.file = Locked(file)
        self.queue = queue
    }

    func read(from offset: Int64, upTo count: Int) async throws -> Data {
        guard offset >= 0, offset < length else { return Data() }
        let count = Int(min(Int64(min(max(0, count), Self.maximumRead)), length - offset))
        if let bytes {
            let start = bytes.startIndex + Int(offset)
            return bytes[start..<start + count]
        }
        guard let file = file.withLock({ $0 }), let queue else {
            throw NetworkError(.storage, detail: "The cached body has been closed.")
        }
        return try await queue.withFiles { try file.read(from: offset, upTo: count) }
    }

    func close() {
        file.withLock { $0 = nil }
    }
}
