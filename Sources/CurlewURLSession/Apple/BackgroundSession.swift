// SPDX-License-Identifier: MIT
// Written against Apple's documentation and type-checked on Linux against stubs (Scripts/apple); not run there.

#if canImport(Darwin)
public import CurlewCore
import CurlewHTTP
public import Foundation

/// Transfers that go on while the app is suspended or ended by the system.
///
///     let background = BackgroundSession(identifier: "example.films", folder: folder)
///     let transfer = try background.start(request, .download(to: path), tags: ["film": "7"])
///     for await entry in background.outcomes { … }        // also those that ended while the app was away
///
/// Make it once at each launch, with the same identifier: that is when the system hands over what has happened. No
/// interceptor runs: attach credentials that live long enough before `start`. Redirects are followed by the system, which
/// may send the request's fields to the new place: leave credentials out where a server redirects to another origin.
public final class BackgroundSession: Sendable {
    /// What has ended, each at least once until it is acknowledged.
    public let outcomes: AsyncStream<BackgroundLedger.Entry>

    private let delegate: BackgroundDelegate
    private let session: URLSession

    /// The session of `identifier`; its ledger is a file in `folder`, which has to exist.
    ///
    /// - `isDiscretionary`: the system chooses the time (power, Wi-Fi).
    public init(identifier: String, folder: String, isDiscretionary: Bool = false) {
        let (stream, continuation) = AsyncStream<BackgroundLedger.Entry>.makeStream()
        outcomes = stream
        delegate = BackgroundDelegate(folder: folder, identifier: identifier, continuation)
        let settings = URLSessionConfiguration.background(withIdentifier: identifier)
        settings.isDiscretionary = isDiscretionary
        settings.sessionSendsLaunchEvents = true
        settings.urlCache = nil
        settings.httpCookieStorage = nil
        settings.urlCredentialStorage = nil
        session = URLSession(configuration: settings, delegate: delegate, delegateQueue: nil)
        delegate.publishFinished()
        let delegate = delegate
        session.getAllTasks { tasks in
            delegate.reattach(tasks.compactMap { BackgroundTransfer(text: $0.taskDescription) })
        }
    }

    /// Begins a transfer. Throws `NetworkError` for a request that cannot be sent, for one with a body (an upload sends its
    /// file, a download nothing), and when the ledger cannot be kept. Of an upload's answer at most 1 MiB is kept; a longer
    /// one makes the transfer fail.
    public func start(
        _ request: HTTPRequest, _ kind: BackgroundTransfer.Kind, tags: [String: String] = [:]
    ) throws(NetworkError) -> BackgroundTransfer {
        guard request.body.isEmpty else {
            throw NetworkError(
                .invalidRequest, detail: "A background transfer sends no body but the file of an upload.",
                hint: "Write the body to a file and start .upload(path), or send it with a client.",
                request: RequestLine(request))
        }
        let transfer = BackgroundTransfer(request, kind: kind, tags: tags)
        let text = try transfer.text()
        let message = try URLRequest(head: request)
        try delegate.change { $0.start(transfer) }
        let task: URLSessionTask
        switch kind {
        case .download: task = session.downloadTask(with: message)
        case .upload(let path): task = session.uploadTask(with: message, fromFile: URL(fileURLWithPath: path))
        }
        task.taskDescription = text
        task.resume()
        return transfer
    }

    /// All transfers that are known.
    public var entries: [BackgroundLedger.Entry] { delegate.entries }

    /// Ends a transfer; its outcome says that it was cancelled.
    public func cancel(_ id: UUID) {
        session.getAllTasks { tasks in
            for task in tasks where BackgroundTransfer(text: task.taskDescription)?.id == id { task.cancel() }
        }
    }

    /// The app has taken an outcome.
    public func acknowledge(_ id: UUID) throws(NetworkError) {
        try delegate.change { $0.acknowledge(id) }
    }

    /// What `application(_:handleEventsForBackgroundURLSession:completionHandler:)` hands over; called on the main
    /// thread when all events have been told.
    public func whenEventsAreTold(_ completion: @escaping @MainActor @Sendable () -> Void) {
        delegate.whenTold(completion)
    }
}

/// Keeps the ledger and moves files. All calls of the session come one at a time.
private final class BackgroundDelegate: NSObject, URLSessionDownloadDelegate, URLSessionDataDelegate, Sendable {
    private struct State {
        var ledger: BackgroundLedger
        /// Where the file of a download has been put, and the answer of an upload.
        var files: [UUID: String] = [:]
        var failures: [UUID: NetworkError] = [:]
        var completion: (@MainActor @Sendable () -> Void)?
        /// All events were told before anybody asked to hear of it.
        var hasTold = false
    }

    private static let maximumAnswer = 1 << 20
    private let state: Locked<State>
    /// Held while the ledger is written, so that an older one never replaces a newer one.
    private let writing = Locked(())
    private let folder: String
    private let path: String
    private let continuation: AsyncStream<BackgroundLedger.Entry>.Continuation

    init(folder: String, identifier: String, _ continuation: AsyncStream<BackgroundLedger.Entry>.Continuation) {
        self.folder = folder
        self.continuation = continuation
        path = folder + "/" + identifier + ".ledger.json"
        state = Locked(State(ledger: BackgroundLedger(file: path)))
    }

    var entries: [BackgroundLedger.Entry] { state.withLock { $0.ledger.entries } }

    func change(_ change: (inout BackgroundLedger) -> Void) throws(NetworkError) {
        state.withLock { change(&$0.ledger) }
        let failure = writing.withLock { _ -> NetworkError? in
            let ledger = state.withLock { $0.ledger }
            do throws(NetworkError) { try ledger.save(to: path) } catch { return error }
            return nil
        }
        if let failure { throw failure }
    }

    func publishFinished() {
        for entry in entries where entry.state != .running { continuation.yield(entry) }
    }

    func reattach(_ known: [BackgroundTransfer]) {
        var lost: [BackgroundTransfer] = []
        try? change { lost = $0.reattach(known) }
        for transfer in lost {
            if let entry = state.withLock({ $0.ledger[transfer.id] }) { continuation.yield(entry) }
        }
    }

    func whenTold(_ completion: @escaping @MainActor @Sendable () -> Void) {
        let isDue = state.withLock { state in
            defer { state.hasTold = false }
            if !state.hasTold { state.completion = completion }
            return state.hasTold
        }
        if isDue { Task { @MainActor in completion() } }
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        guard let transfer = BackgroundTransfer(text: downloadTask.taskDescription),
            case .download(let target) = transfer.kind
        else { return }
        do {
            // The file is gone when this returns.
            try? FileManager.default.removeItem(atPath: target)
            try FileManager.default.moveItem(atPath: location.path, toPath: target)
            state.withLock { $0.files[transfer.id] = target }
        } catch {
            let failure = NetworkError(.storage, detail: "The file could not be moved: \(error)", underlying: error)
            state.withLock { $0.failures[transfer.id] = failure }
        }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        guard let transfer = BackgroundTransfer(text: dataTask.taskDescription) else { return }
        let file = folder + "/" + transfer.id.uuidString + ".answer"
        if state.withLock({ $0.files.updateValue(file, forKey: transfer.id) }) == nil {
            FileManager.default.createFile(atPath: file, contents: nil)
        }
        guard let handle = FileHandle(forWritingAtPath: file), let size = try? handle.seekToEnd() else { return }
        defer { try? handle.close() }
        guard size + UInt64(data.count) <= Self.maximumAnswer else {
            let failure = NetworkError(
                .limitExceeded(.responseBody), detail: "The answer to the upload is longer than 1 MiB.")
            state.withLock { $0.failures[transfer.id] = failure }
            return
        }
        try? handle.write(contentsOf: data)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let transfer = BackgroundTransfer(text: task.taskDescription) else { return }
        let (file, problem) = state.withLock { state in
            (state.files.removeValue(forKey: transfer.id), state.failures.removeValue(forKey: transfer.id))
        }
        let outcome: BackgroundOutcome
        if let error {
            let isSecure = task.originalRequest?.url?.scheme == "https"
            outcome = BackgroundOutcome(SystemFailure.error(error, isSecure: isSecure, hasHead: task.response != nil))
        } else if let problem {
            outcome = BackgroundOutcome(problem)
        } else if let response = task.response as? HTTPURLResponse {
            outcome = BackgroundOutcome(HTTPResponse(response, body: Data()), file: file)
        } else {
            outcome = BackgroundOutcome(NetworkError(.badResponse, detail: "There was no answer."))
        }
        try? change { $0.finish(transfer, outcome) }
        if let entry = state.withLock({ $0.ledger[transfer.id] }) { continuation.yield(entry) }
    }

    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
        let completion = state.withLock { state in
            defer { state.completion = nil }
            state.hasTold = state.completion == nil
            return state.completion
        }
        if let completion { Task { @MainActor in completion() } }
    }
}
#endif
