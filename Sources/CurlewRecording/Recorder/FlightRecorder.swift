// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewFoundation
public import CurlewHTTP
import Dispatch

/// Records the last calls of one or several clients, to find out later why a call failed or was slow, and what was
/// really sent.
///
///     let recorder = FlightRecorder()
///     let client = APIClient(baseURL: "https://api.example.com", pipeline: .standard.adding(.recording(recorder)))
///     …
///     try recorder.har().data().write(to: file)        // HAR 1.2, for browsers and other tools
///     print(recorder.curlCommands().joined(separator: "\n\n"))
///     try Data(recorder.htmlReport().utf8).write(to: page)
///
/// A recording has, for each call, every request on the wire as it was sent, the head of every response, the
/// measurements, and the decisions of the client: retries, redirects, the use of the cache, waits, refreshed tokens.
///
/// - Secrets are redacted before anything is stored: those of the `redaction`, and those that a client and its
///   interceptors declare.
/// - The memory is limited by the number of calls and by their size: the oldest calls are dropped. Of one call, at most
///   200 requests and 400 decisions are kept.
/// - Bodies are recorded only if `bodies` selects them, up to a limit. A streamed body is copied while its reader reads
///   it, so back-pressure and cancellation are unchanged.
/// - The recorder may be used on any thread. Outputs contain the calls recorded so far, also those that have not ended.
public final class FlightRecorder: Sendable {
    /// The selection of recorded bodies.
    public struct Bodies: Sendable {
        let limit: Int
        let opaque: HARDocument.OpaqueBodies

        /// No bodies, only heads. This is the default.
        public static let none = Bodies(limit: 0, opaque: .omitted)

        /// Bodies of requests and responses, without their secrets.
        ///
        /// A request body is recorded if it is in memory, or if it is a stream that can be created again.
        ///
        /// - `limit`: the maximum number of bytes of a body. Of a longer body, only the beginning is recorded. With 0
        ///   or less, no body is recorded. Default 64 KiB.
        /// - `opaque`: what happens to bodies in which secrets cannot be recognized, because they are neither JSON, a
        ///   form nor plain text. Default `.omitted`.
        public static func upTo(_ limit: Int = 64 << 10, opaque: HARDocument.OpaqueBodies = .omitted) -> Bodies {
            Bodies(limit: max(0, limit), opaque: opaque)
        }
    }

    let bodies: Bodies
    let redaction: Redaction
    private let store: Locked<RecordStore>
    private let failureAction: FailureAction?
    private let queue = DispatchQueue(label: "curlew.recorder")
    /// The number of failures that wait for their action.
    private let waiting = Locked(0)

    /// The maximum number of failures that wait for their action. Further ones are dropped.
    static let maximumWaiting = 32

    /// Creates a recorder.
    ///
    /// - `capacity`: the maximum number of calls, at least 1 and at most 1,000,000. Default 200.
    /// - `memory`: the maximum size of the recording in bytes, by estimate. No larger call is kept. Default 16 MiB.
    /// - `bodies`: which bodies are recorded. Default `.none`.
    /// - `redaction`: the secrets to redact, in addition to those that a client and its interceptors declare. With
    ///   `.none`, the recording contains all secrets. Default `.standard`.
    /// - `onFailure`: what happens with the record of a call that fails. Cancelled calls are not failures. Default nil:
    ///   nothing.
    public init(
        capacity: Int = 200, memory: Int = 16 << 20, bodies: Bodies = .none, redaction: Redaction = .standard,
        onFailure: FailureAction? = nil
    ) {
        self.bodies = bodies
        self.redaction = redaction
        failureAction = onFailure
        store = Locked(
            RecordStore(capacity: min(max(1, capacity), 1_000_000), memory: max(0, memory), redaction: redaction))
    }

    /// The recorded calls, oldest first.
    public var records: [Record] { store.withLock { $0.records } }

    /// Removes all records. Running calls are recorded again from their next request.
    public func removeAll() {
        store.withLock { $0.removeAll() }
    }

    /// Returns the recording as a HAR document. Its entries are sorted by their start.
    ///
    /// Each recorded request on the wire has an entry, whose `facts` have the number of its call, the attempt, the hop,
    /// and the decisions of the client. For a call that sent no request, see ``Record/entries``.
    public func har() -> HARDocument {
        HARDocument(entries: records.flatMap(\.entries).sorted { $0.startedDateTime < $1.startedDateTime })
    }

    /// Returns the requests on the wire as `curl` commands, oldest first, as they were recorded: with the recorded
    /// bodies, and without the secrets that were redacted. See `HTTPRequest.curlCommand()`.
    public func curlCommands() -> [String] {
        har().entries.filter { $0.facts?.request != 0 }.map { $0.curlCommand(redaction: .none) }
    }

    /// Returns the recording as one HTML page of at most 5 MB that loads no other resources: see `HTMLReport`.
    public func htmlReport(title: String = "Flight recorder") -> String {
        HTMLReport(har(), title: title).text
    }

    /// Stores an event, or another fact of a call.
    func store(_ change: (inout RecordStore) -> Void) {
        store.withLock { change(&$0) }
    }

    /// Stores the failure of a call, and starts the action for failures.
    func fail(
        _ request: HTTPRequest?, with error: NetworkError, after duration: Duration, in context: ExchangeContext
    ) {
        let failed = store.withLock { $0.failed(request, with: error, after: duration, in: context) }
        guard let failed, let failureAction else { return }
        let isAccepted = waiting.withLock { waiting in
            guard waiting < Self.maximumWaiting else { return false }
            waiting += 1
            return true
        }
        guard isAccepted else { return }
        // The client holds locks while it records.
        queue.async { [self] in
            failureAction.run(failed)
            waiting.withLock { $0 -= 1 }
        }
    }

    func grow(call: UInt64, by size: Int) {
        store.withLock { $0.grow(call: call, by: size) }
    }

    var size: Int { store.withLock { $0.bytes } }
}

extension FlightRecorder: MirroredByDescription {
    /// The number of recorded calls.
    public var description: String { "FlightRecorder(\(store.withLock { $0.count }) calls)" }
}

extension FlightRecorder {
    /// An action for the records of failed calls.
    ///
    /// The action runs on a queue of the recorder, one record at a time, after the call has ended. While 32 actions
    /// wait or run, further records are dropped. Bodies that have not ended when the action runs are missing.
    public struct FailureAction: Sendable {
        let run: @Sendable (Record) -> Void

        /// Calls `action` with the record. The closure may block, and may call the client.
        public static func call(_ action: @escaping @Sendable (Record) -> Void) -> FailureAction {
            FailureAction(run: action)
        }

        /// Writes the record to a file in HAR format, which only the user can read (mode 0600).
        ///
        /// The names of the files begin with `curlew-failure-` and sort by time. When there are more than `limit` such
        /// files, the oldest are removed.
        ///
        /// - `folder`: the path of an existing folder.
        /// - `limit`: the maximum number of files, at least 1. Default 20.
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
