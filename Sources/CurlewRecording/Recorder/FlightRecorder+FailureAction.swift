// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewFoundation
import CurlewHTTP

extension FlightRecorder {
    /// An action for the records of failed calls.
    ///
    /// The action runs on a queue of the recorder, one record at a time, after the call has ended. If more than 32
    /// records wait for it, further ones are dropped. The record has no bodies that are read after the call has failed.
    public struct FailureAction: Sendable {
        let run: @Sendable (Record) -> Void

        /// Calls `action` with the record. It may block, and may call the client.
        public static func call(_ action: @escaping @Sendable (Record) -> Void) -> FailureAction {
            FailureAction(run: action)
        }

        /// Writes the record to a file in HAR format, which only the user can read (mode 0600).
        ///
        /// The names of the files begin with `curlew-failure-` and sort by time. When there are more than `limit` such
        /// files, the oldest are removed.
        ///
        /// - `folder`: the path of an existing folder.
        /// - `limit`: the maximum number of files. Default 20.
        /// - `onProblem`: receives an error with the reason `.storage` if a file cannot be written. Default: ignored.
        public static func writeFiles(
            to folder: String, limit: Int = 20, onProblem: @escaping @Sendable (NetworkError) -> Void = { _ in }
        ) -> FailureAction {
            let files = FailureFiles(folder: folder, limit: max(1, limit))
            return FailureAction { record in
                do throws(NetworkError) {
                    try files.write(record)
                } catch {
                    onProblem(error)
                }
            }
        }
    }
}

/// The files of failed calls in a folder.
private struct FailureFiles: Sendable {
    let folder: String
    let limit: Int

    private static let prefix = "curlew-failure-"

    func write(_ record: FlightRecorder.Record) throws(NetworkError) {
        let data = try HARDocument(entries: record.entries).data(pretty: true)
        let time = HARTimestamp.text(record.date).without { "-:.".utf8.contains($0) }
        do throws(PrivateFile.Failure) {
            try PrivateFile.replace("\(folder)/\(Self.prefix)\(time)-\(record.call).har", with: data)
        } catch {
            throw NetworkError(.storage, detail: "\(error).", hint: error.hint)
        }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let ours = names.filter { $0.begins(with: Self.prefix) && $0.ends(with: ".har") }.sorted()
        for name in ours.dropLast(limit) { try? PrivateFile.remove("\(folder)/\(name)") }
    }
}
