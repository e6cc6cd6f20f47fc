// SPDX-License-Identifier: MIT

import CurlewCaching
import CurlewCore
import Dispatch

/// The queues on which the store waits for the disk, so that no thread of Swift's tasks is blocked. There is one for
/// changes, one for lookups, and one for the files of large bodies. A lookup therefore waits neither for a large body
/// that is being written nor for other processes.
final class DatabaseQueue: Sendable {
    private let queue = DispatchQueue(label: "curlew.cache.database")
    private let files = DispatchQueue(label: "curlew.cache.files")
    private let lookups = DispatchQueue(label: "curlew.cache.lookups")
    private let database: Locked<Database>
    private let reader: Locked<Reader>
    private let state = Locked(State())

    private struct State {
        var hasSwept = false
        /// Whether the first operation has run. It creates or checks the file before the reader uses the file.
        var isPrepared = false
        /// Whether a delayed write of the uses is scheduled.
        var writesUses = false
        /// The uses that the table has not received yet.
        var uses: [HTTPCache.Entry.ID] = []

        mutating func takeUses() -> [HTTPCache.Entry.ID] {
            defer { uses = [] }
            return uses
        }
    }

    /// The time and the number of uses after which uses in memory are written.
    private static let useDelay = DispatchTimeInterval.seconds(2)
    private static let maximumUses = 256

    init(_ database: sending Database, reader: sending Reader) {
        self.database = Locked(database)
        self.reader = Locked(reader)
    }

    deinit {
        queue.async { [database, state] in Self.writeUses(database, state) }
    }

    /// Runs a lookup on the reader, without waiting for changes. If the reader cannot be used, runs it on the queue of
    /// the changes.
    func read<Value: Sendable>(_ work: @escaping @Sendable (CacheTable) throws -> Value) async throws -> Value {
        if state.withLock({ $0.isPrepared }) {
            let value = await withCheckedContinuation { continuation in
                lookups.async { [reader] in
                    continuation.resume(returning: reader.withLock { $0.perform(work) })
                }
            }
            if let value { return value }
        }
        return try await run(work)
    }

    /// Runs `work` on the queue of the changes, with the connection that writes.
    func run<Value: Sendable>(_ work: @escaping @Sendable (CacheTable) throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { [self] in
                let uses = state.withLock { $0.takeUses() }
                let (result, useCount) = database.withLock { database in
                    let result = Result {
                        try database.perform { table in
                            table.use(uses)
                            return try work(table)
                        }
                    }
                    return (result, database.useCount)
                }
                continuation.resume(with: result)
                afterwards(useCount: useCount)
            }
        }
    }

    /// Records a use without waiting. The use is written after at most two seconds, or after 256 uses.
    func recordUse(of id: HTTPCache.Entry.ID) {
        let (isFull, writes) = state.withLock { state in
            defer { state.writesUses = true }
            state.uses.append(id)
            return (state.uses.count == Self.maximumUses, !state.writesUses)
        }
        if isFull { queue.async { [self] in Self.writeUses(database, state) } }
        if writes { writeUsesLater() }
    }

    /// Runs `work`, which reads or writes files of bodies, on the queue of the files.
    func withFiles<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            files.async { continuation.resume(with: Result { try work() }) }
        }
    }

    /// Runs `work` on the queue of the files, without waiting for it.
    func later(_ work: @escaping @Sendable () -> Void) {
        files.async(execute: work)
    }

    private func afterwards(useCount: Int) {
        let (sweeps, writes) = state.withLock { state in
            defer {
                (state.hasSwept, state.isPrepared) = (true, true)
                state.writesUses = state.writesUses || useCount > 0
            }
            return (!state.hasSwept, useCount > 0 && !state.writesUses)
        }
        if sweeps {
            queue.async { [database] in
                database.withLock { database in
                    let folder = database.folder
                    try? database.perform { table in try folder.sweep { try table.contains($0) } }
                }
            }
        }
        if useCount >= Self.maximumUses { Self.writeUses(database, state) }
        if writes { writeUsesLater() }
    }

    private func writeUsesLater() {
        queue.asyncAfter(deadline: .now() + Self.useDelay) { [weak self] in
            guard let self else { return }
            state.withLock { $0.writesUses = false }
            Self.writeUses(database, state)
        }
    }

    /// Writes the recorded uses. Called on the queue of the changes. A failure is ignored, because uses only determine
    /// the order of eviction.
    private static func writeUses(_ database: Locked<Database>, _ state: Locked<State>) {
        let uses = state.withLock { $0.takeUses() }
        database.withLock { database in
            guard database.useCount + uses.count > 0 else { return }
            try? database.perform { table in
                table.use(uses)
                try table.writeUses()
            }
        }
    }
}
