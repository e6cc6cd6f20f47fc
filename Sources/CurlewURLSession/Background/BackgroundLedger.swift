// SPDX-License-Identifier: MIT

import CurlewCore
import Foundation

/// The file of a `BackgroundStore`. It is accepted only if it is a regular file of this user that no other user can
/// read or change, as the files of cookies and tokens are.
///
/// A ledger is never replaced unless it was read, because it is all that is known about the transfers that run.
struct BackgroundLedger: Sendable {
    let path: String

    private static let limit = 64 << 20

    enum Content {
        /// There is no file; with an error if there was one, which is damaged and was renamed.
        case none(NetworkError?)
        case transfers([BackgroundTransfer])
        /// The file cannot be read now, or is not trustworthy, and must not be replaced.
        case closed(NetworkError)
    }

    func read(at now: Date = Date()) -> Content {
        let data: Data
        do {
            data = try PrivateFile.read(path, limit: Self.limit, trusting: .ownerAlone)
        } catch {
            if error.isMissing { return .none(nil) }
            return .closed(
                NetworkError(
                    .storage, detail: "\(error), so no background transfer is started.",
                    hint: error.hint ?? "Check the file and its permissions. It is read again with each transfer."))
        }
        do {
            return .transfers(try JSONDecoder().decode([BackgroundTransfer].self, from: data))
        } catch {
            return setAside("\(path).damaged-\(Int64(now.timeIntervalSince1970 * 1000))")
        }
    }

    private func setAside(_ aside: String) -> Content {
        do {
            try PrivateFile.move(path, to: aside)
        } catch {
            return .closed(
                NetworkError(
                    .storage, detail: "\(path) is damaged. \(error), so no background transfer is started.",
                    hint: "Remove the file."))
        }
        return .none(
            NetworkError(
                .storage, detail: "\(path) is damaged and was renamed to \(aside). Paths of downloads are lost.",
                hint: "The transfers that the system still knows are delivered. Remove that file afterwards."))
    }

    func write(_ transfers: [BackgroundTransfer]) throws {
        try PrivateFile.replace(path, with: try JSONEncoder().encode(transfers))
    }
}

/// A system task that this package has created, as the system reports it.
struct BackgroundTask: Sendable {
    let id: UUID
    let isDownload: Bool
    /// The method and the origin. The rest of the URL may contain secrets that only the client declares.
    let line: String
}
