// SPDX-License-Identifier: MIT

import CurlewCore
import Dispatch

/// Where the store waits for the disk: one thing at a time on the database, and one on the files of large bodies, so that
/// a lookup does not wait until a film is on the disk. Never on the threads that tasks run on.
final class Worker: Sendable {
    private let queue = DispatchQueue(label: "curlew.cache.database")
    private let files = DispatchQueue(label: "curlew.cache.files")
    private let database: Locked<Database>
    private let state = Locked((hasSwept: false, writesUses: false))

    /// How long uses stay in memory at most.
    private static let useDelay = DispatchTimeInterval.seconds(2)

    init(_ database: sending Database) {
        self.database = Locked(database)
    }

    deinit {
        queue.async { [database] in
            database.withLock { if $0.hasUses { try? $0.perform { try $0.writeUses() } } }
        }
    }

    /// Works with the database.
    func run<Value: Sendable>(_ work: @escaping @Sendable (CacheTable) throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { [self] in
                let (result, hasUses) = database.withLock { database in
                    (Result { try database.perform(work) }, database.hasUses)
                }
                continuation.resume(with: result)
                afterwards(hasUses: hasUses)
            }
        }
    }

    /// Works with files.
    func withFiles<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            files.async { continuation.resume(with: Result { try work() }) }
        }
    }

    /// The same for what nobody waits for.
    func later(_ work: @escaping @Sendable () -> Void) {
        files.async(execute: work)
    }

    private func afterwards(hasUses: Bool) {
        let (sweeps, writes) = state.withLock { state in
            defer {
                state.hasSwept = true
                state.writesUses = state.writesUses || hasUses
            }
            return (!state.hasSwept, hasUses && !state.writesUses)
        }
        if sweeps {
            queue.async { [database] in
                database.withLock { database in
                    let folder = database.folder
                    try? database.perform { table in try folder.sweep { try table.contains($0) } }
                }
            }
        }
        guard writes else { return }
        queue.asyncAfter(deadline: .now() + Self.useDelay) { [weak self] in
            guard let self else { return }
            state.withLock { $0.writesUses = false }
            database.withLock { if $0.hasUses { try? $0.perform { try $0.writeUses() } } }
        }
    }
}
