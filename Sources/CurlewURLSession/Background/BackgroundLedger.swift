// SPDX-License-Identifier: MIT

public import CurlewCore
public import Foundation

/// A record of background transfers and their outcomes, independent of URLSession.
///
///     started ──▶ running ──▶ finished ──▶ (acknowledged: removed)
///                    │
///                    └──▶ lost: the system no longer knows the transfer, and no outcome has arrived
///
/// `BackgroundSession` saves the ledger after every change and loads it after a relaunch. `reattach` then compares it
/// with the tasks that the system still has. Events may arrive twice and in any order: the first outcome of a transfer
/// is kept.
public struct BackgroundLedger: Codable, Hashable, Sendable {
    /// The state of a background transfer.
    public enum State: Codable, Hashable, Sendable {
        /// The system performs the transfer or has scheduled it.
        case running
        /// The transfer has ended, and the app has not acknowledged its outcome.
        case finished(BackgroundOutcome)
        /// The system no longer knows the transfer: for example, the user terminated the app, or an older installation
        /// created the task. If the system reports an outcome later, the state becomes `finished`.
        case lost
    }

    /// A background transfer and its state.
    public struct Entry: Codable, Hashable, Sendable {
        /// The description of the transfer.
        public let transfer: BackgroundTransfer
        /// The state of the transfer.
        public internal(set) var state: State
    }

    /// The maximum number of transfers in a ledger: 1000. When it is exceeded, the oldest transfer that is not running
    /// is removed, or the oldest transfer if all are running.
    public static let capacity = 1000

    private(set) var list: [Entry] = []

    /// Creates an empty ledger.
    public init() {}

    /// All transfers, in the order in which they were started.
    public var entries: [Entry] { list }

    /// Returns the entry of the transfer with this identifier; nil if there is none.
    public subscript(id: UUID) -> Entry? {
        list.first { $0.transfer.id == id }
    }

    /// Adds a running transfer. Does nothing if the ledger already contains the transfer.
    public mutating func start(_ transfer: BackgroundTransfer) {
        guard self[transfer.id] == nil else { return }
        list.append(Entry(transfer: transfer, state: .running))
        while list.count > Self.capacity {
            // A running transfer is removed only if all transfers are running.
            list.remove(at: list.firstIndex { $0.state != .running } ?? 0)
        }
    }

    /// Records the outcome of a transfer. A transfer that the ledger does not contain is added: its task was created in
    /// a launch whose ledger was lost.
    ///
    /// Returns true if this is the first outcome of the transfer. Later outcomes are ignored.
    @discardableResult
    public mutating func finish(_ transfer: BackgroundTransfer, _ outcome: BackgroundOutcome) -> Bool {
        start(transfer)
        guard let index = list.firstIndex(where: { $0.transfer.id == transfer.id }) else { return false }
        if case .finished = list[index].state { return false }
        list[index].state = .finished(outcome)
        return true
    }

    /// Compares the ledger with the transfers that the system still has, after a relaunch. Returns the transfers that
    /// are lost.
    ///
    /// - A running transfer that is not in `known` becomes lost.
    /// - A lost transfer that is in `known` becomes running again.
    /// - A transfer in `known` that the ledger does not contain is added.
    ///
    /// Apple does not document whether a task that ended while the app was away is among the session's tasks until its
    /// end is reported. An outcome that arrives later replaces `lost`.
    ///
    /// - `known`: the transfers of the system's tasks.
    /// - `candidates`: the transfers that can become lost, that is, those in the ledger at launch. The system's list of
    ///   tasks is fetched asynchronously and does not contain transfers that were started in the meantime. Default nil:
    ///   all transfers.
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

    /// Removes a transfer whose outcome the app has processed. Does nothing if the transfer is running.
    public mutating func acknowledge(_ id: UUID) {
        list.removeAll { $0.transfer.id == id && $0.state != .running }
    }

    /// Removes a transfer that was not handed to the system.
    mutating func remove(_ id: UUID) {
        list.removeAll { $0.transfer.id == id }
    }
}

extension BackgroundLedger {
    /// The maximum size of a ledger file in bytes: enough for a thousand transfers with long tags.
    private static let fileLimit = 64 << 20

    /// Loads a ledger from a file. The ledger is empty if the file does not exist or cannot be read, belongs to another
    /// user, is a symbolic link, or exceeds 64 MiB.
    public init(file path: String) {
        let data = (try? PrivateFile.read(path, limit: Self.fileLimit, trusting: .owner)) ?? Data()
        self = (try? JSONDecoder().decode(Self.self, from: data)) ?? BackgroundLedger()
    }

    /// Writes the ledger to a file atomically. Only the owner can read the file (0600). Throws `NetworkError` with
    /// reason `.storage`.
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
