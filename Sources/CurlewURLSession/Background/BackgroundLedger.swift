// SPDX-License-Identifier: MIT

public import CurlewCore
public import Foundation

/// Which background transfers there are and what came of them: the bookkeeping, without URLSession.
///
///     started ──▶ running ──▶ finished ──▶ (acknowledged: gone)
///                    │
///                    └──▶ lost: the system no longer knows it, and nothing came of it
///
/// A value that is saved whenever it changes and loaded after a relaunch; then `reattach` compares it with the tasks that
/// the system still has. Events may come twice and in any order: the first outcome of a transfer counts.
public struct BackgroundLedger: Codable, Hashable, Sendable {
    /// Where a transfer stands.
    public enum State: Codable, Hashable, Sendable {
        /// The system works on it, or waits for its time.
        case running
        /// It is over, and the app has not acknowledged it.
        case finished(BackgroundOutcome)
        /// The system lost it: the user ended the app, or the task was made by an older installation. Should its end be
        /// told after all, it becomes finished.
        case lost
    }

    /// One transfer and where it stands.
    public struct Entry: Codable, Hashable, Sendable {
        /// The transfer.
        public let transfer: BackgroundTransfer
        /// Where it stands.
        public internal(set) var state: State
    }

    /// The most transfers it keeps: 1000. Beyond it the oldest that has ended is forgotten, or the oldest at all.
    public static let capacity = 1000

    private(set) var list: [Entry] = []

    /// A ledger without entries.
    public init() {}

    /// All transfers in the order in which they were started.
    public var entries: [Entry] { list }

    /// The transfer of this identifier.
    public subscript(id: UUID) -> Entry? {
        list.first { $0.transfer.id == id }
    }

    /// A transfer begins. Nothing happens if it is known.
    public mutating func start(_ transfer: BackgroundTransfer) {
        guard self[transfer.id] == nil else { return }
        list.append(Entry(transfer: transfer, state: .running))
        while list.count > Self.capacity {
            // What still runs is not forgotten for as long as there is something else.
            list.remove(at: list.firstIndex { $0.state != .running } ?? 0)
        }
    }

    /// A transfer is over. One that is not known becomes so: its task came from a launch whose ledger was lost.
    ///
    /// True when this is the first outcome, and so the one that counts.
    @discardableResult
    public mutating func finish(_ transfer: BackgroundTransfer, _ outcome: BackgroundOutcome) -> Bool {
        start(transfer)
        guard let index = list.firstIndex(where: { $0.transfer.id == transfer.id }) else { return false }
        if case .finished = list[index].state { return false }
        list[index].state = .finished(outcome)
        return true
    }

    /// After a relaunch: the transfers that the system still knows. What it does not know, and has no outcome, is lost.
    ///
    /// Gives the lost ones. Apple does not say whether a task that ended while the app was away is among a session's
    /// tasks until its end was told: an outcome that comes later replaces `.lost`.
    ///
    /// - `candidates`: the transfers that may be lost, those that were loaded at the launch; nil for all. The system's
    ///   list of tasks takes time to come, and what was started meanwhile is not in it.
    @discardableResult
    public mutating func reattach(
        _ known: [BackgroundTransfer], candidates: Set<UUID>? = nil
    ) -> [BackgroundTransfer] {
        let ids = Set(known.map(\.id))
        var lost: [BackgroundTransfer] = []
        for index in list.indices {
            let isKnown = ids.contains(list[index].transfer.id)
            switch list[index].state {
            case .running where !isKnown && candidates?.contains(list[index].transfer.id) ?? true:
                list[index].state = .lost
                lost.append(list[index].transfer)
            case .lost where isKnown: list[index].state = .running
            default: break
            }
        }
        for transfer in known { start(transfer) }
        return lost
    }

    /// The app has looked at the outcome. What still runs stays.
    public mutating func acknowledge(_ id: UUID) {
        list.removeAll { $0.transfer.id == id && $0.state != .running }
    }

    /// A transfer that was never handed to the system.
    mutating func remove(_ id: UUID) {
        list.removeAll { $0.transfer.id == id }
    }
}

extension BackgroundLedger {
    /// The most bytes of a file: a thousand transfers with long tags.
    private static let fileLimit = 64 << 20

    /// The ledger in a file; an empty one if there is no file or it cannot be read, because then it is as good as lost.
    /// Another user's file and a symbolic link are not read.
    public init(file path: String) {
        let data = (try? PrivateFile.read(path, limit: Self.fileLimit, trusting: .owner)) ?? Data()
        self = (try? JSONDecoder().decode(Self.self, from: data)) ?? BackgroundLedger()
    }

    /// Writes the file anew, in one step, readable for its owner only (0600). Throws `NetworkError` with reason
    /// `.storage`.
    public func save(to path: String) throws(NetworkError) {
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys]
            try PrivateFile.replace(path, with: try encoder.encode(self))
        } catch {
            throw NetworkError(.storage, detail: "The ledger cannot be written to \(path): \(error)", underlying: error)
        }
    }
}
