// SPDX-License-Identifier: MIT
// Written against Apple's documentation; the continuous integration compiles it nowhere, because it runs on Linux.

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
/// interceptor runs: attach credentials that live long enough before `start`. Redirects are followed by the system.
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

    /// Begins a transfer. Throws `NetworkError` for a request that cannot be sent, and when the ledger cannot be kept.
    public func start(
        _ request: HTTPRequest, _ kind: BackgroundTransfer.Kind, tags: [String: String] = [:]
    ) throws(NetworkError) -> BackgroundTransfer {
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
    }

    private static let maximumAnswer = 1 << 20
    private let state: Locked<State>
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
        let ledger = state.withLock { state in
            change(&state.ledger)
            return state.ledger
        }
        try ledger.save(to: path)
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
        state.withLock { $0.completion = completion }
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
        guard let handle = FileHandle(forWritingAtPath: file), let size = try? handle.seekToEnd(),
            size < Self.maximumAnswer
        else { return }
        try? handle.write(contentsOf: data)
        try? handle.close()
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
            return state.completion
        }
        if let completion { Task { @MainActor in completion() } }
    }
}
#endif
