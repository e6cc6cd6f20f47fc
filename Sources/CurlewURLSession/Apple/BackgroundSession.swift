// SPDX-License-Identifier: MIT
// Written against Apple's documentation and type-checked on Linux against stubs (Scripts/apple); not run there.

#if canImport(Darwin)
public import CurlewCore
import CurlewHTTP
public import Foundation

/// A session for transfers that continue while the app is suspended, and after the system has terminated the app.
///
///     let background = BackgroundSession(identifier: "example.films", folder: folder)
///     let transfer = try background.start(request, .download(to: path), tags: ["film": "7"])
///     for await entry in background.outcomes { … }        // also those that ended while the app was away
///
/// Create the session at every launch with the same identifier, so that the system delivers the pending events.
///
/// No interceptor runs. Attach credentials before `start`, and make sure that they are valid for long enough. The
/// system follows redirects and may send the fields of the request to the new origin. Omit credentials if a server
/// redirects to another origin.
public final class BackgroundSession: Sendable {
    /// The transfers that have ended or are lost. Each entry is delivered at least once, and again at each launch until
    /// the app acknowledges it. The stream supports one consumer and buffers the newest 1000 entries.
    public let outcomes: AsyncStream<BackgroundLedger.Entry>

    private let delegate: BackgroundDelegate
    private let session: URLSession

    /// Creates a background session and delivers the outcomes that the app has not acknowledged.
    ///
    /// - `identifier`: the identifier of the session, the same at every launch.
    /// - `folder`: the existing folder in which the ledger and response bodies are stored.
    /// - `isDiscretionary`: whether the system chooses the time of the transfers, depending on power and Wi-Fi. Default
    ///   false.
    public init(identifier: String, folder: String, isDiscretionary: Bool = false) {
        // The ledger has the same limit, so the stream can buffer all entries.
        let (stream, continuation) = AsyncStream<BackgroundLedger.Entry>.makeStream(
            bufferingPolicy: .bufferingNewest(BackgroundLedger.capacity))
        outcomes = stream
        delegate = BackgroundDelegate(BackgroundFiles(folder: folder, identifier: identifier), continuation)
        let settings = URLSessionConfiguration.background(withIdentifier: identifier)
        settings.isDiscretionary = isDiscretionary
        settings.sessionSendsLaunchEvents = true
        settings.urlCache = nil
        settings.httpCookieStorage = nil
        settings.urlCredentialStorage = nil
        session = URLSession(configuration: settings, delegate: delegate, delegateQueue: nil)
        delegate.publishFinished()
        let (delegate, queue) = (delegate, session.delegateQueue)
        session.getAllTasks { tasks in
            let known = tasks.compactMap { BackgroundTransfer(text: $0.taskDescription) }
            // This operation follows the pending delegate events, so that a transfer that has ended is not marked as
            // lost.
            queue.addOperation { delegate.reattach(known) }
        }
    }

    /// Starts a transfer and returns its description.
    ///
    /// - Download: with a success status, the response body replaces the file at the path. With any other status, the
    ///   file is unchanged, and a response body of at most 1 MiB is kept for the outcome. A longer one is discarded.
    /// - Upload: a response body of at most 1 MiB is kept for the outcome. A longer one makes the transfer fail.
    ///
    /// Throws `NetworkError` for a request that cannot be sent, for a request with a body (an upload sends its file, a
    /// download sends no body), for tags that are too long, and if the ledger cannot be written.
    public func start(
        _ request: HTTPRequest, _ kind: BackgroundTransfer.Kind, tags: [String: String] = [:]
    ) throws(NetworkError) -> BackgroundTransfer {
        guard request.body.isEmpty else {
            throw NetworkError(
                .invalidRequest, detail: "A background transfer can send only the file of an upload as its body.",
                hint: "Write the body to a file and start .upload(path), or send it with a client.",
                request: NetworkError.RequestLine(request))
        }
        let transfer = BackgroundTransfer(request, kind: kind, tags: tags)
        let text = try transfer.text()
        let message = try URLRequest(head: request)
        try delegate.start(transfer)
        let task: URLSessionTask
        switch kind {
        case .download: task = session.downloadTask(with: message)
        case .upload(let path): task = session.uploadTask(with: message, fromFile: URL(fileURLWithPath: path))
        }
        task.taskDescription = text
        task.resume()
        return transfer
    }

    /// The known transfers and their states, in the order in which they were started.
    public var entries: [BackgroundLedger.Entry] { delegate.entries }

    /// Cancels a running transfer. Its outcome is then a cancellation error. Does nothing if the system does not know
    /// the transfer.
    public func cancel(_ id: UUID) {
        session.getAllTasks { tasks in
            for task in tasks where BackgroundTransfer(text: task.taskDescription)?.id == id { task.cancel() }
        }
    }

    /// Removes a transfer whose outcome the app has processed, and the stored response body if there is one.
    ///
    /// A downloaded file is kept. A running transfer is not affected. Throws `.storage` if the ledger cannot be
    /// written.
    public func acknowledge(_ id: UUID) throws(NetworkError) {
        try delegate.acknowledge(id)
    }

    /// Sets the completion handler of `application(_:handleEventsForBackgroundURLSession:completionHandler:)`.
    ///
    /// The handler is called on the main thread when all events have been delivered. If that happened within the last
    /// 30 seconds, and no event or new transfer has followed, the handler is called immediately.
    public func whenEventsAreTold(_ completion: @escaping @MainActor @Sendable () -> Void) {
        delegate.whenDelivered(completion)
    }
}

/// The delegate of the background session. It maintains the ledger and passes files to `BackgroundFiles`. The session
/// calls it serially.
private final class BackgroundDelegate: NSObject, URLSessionDownloadDelegate, URLSessionDataDelegate, Sendable {
    private typealias Handler = @MainActor @Sendable () -> Void

    private struct State {
        var ledger: BackgroundLedger
        /// The errors of transfers whose files could not be stored.
        var failures: [UUID: NetworkError] = [:]
        var events = LaunchEvents<Handler>()
    }

    private let files: BackgroundFiles
    /// The transfers that the ledger contained at launch.
    private let earlier: Set<UUID>
    private let state: Locked<State>
    /// Held while the ledger is written, so that an older version never replaces a newer one.
    private let writing = Locked(())
    private let continuation: AsyncStream<BackgroundLedger.Entry>.Continuation

    init(_ files: BackgroundFiles, _ continuation: AsyncStream<BackgroundLedger.Entry>.Continuation) {
        self.files = files
        self.continuation = continuation
        let ledger = BackgroundLedger(file: files.ledger)
        earlier = Set(ledger.entries.map(\.transfer.id))
        state = Locked(State(ledger: ledger))
    }

    var entries: [BackgroundLedger.Entry] { state.withLock { $0.ledger.entries } }

    func change(_ change: (inout BackgroundLedger) -> Void) throws(NetworkError) {
        state.withLock { change(&$0.ledger) }
        let failure = writing.withLock { _ -> NetworkError? in
            let ledger = state.withLock { $0.ledger }
            do throws(NetworkError) { try ledger.save(to: files.ledger) } catch { return error }
            return nil
        }
        if let failure { throw failure }
    }

    /// Records a transfer in the ledger. Throws if the ledger cannot be written.
    func start(_ transfer: BackgroundTransfer) throws(NetworkError) {
        state.withLock { $0.events.goOn() }
        do throws(NetworkError) {
            try change { $0.start(transfer) }
        } catch {
            state.withLock { $0.ledger.remove(transfer.id) }
            throw error
        }
    }

    func acknowledge(_ id: UUID) throws(NetworkError) {
        try change { $0.acknowledge(id) }
        if state.withLock({ $0.ledger[id] }) == nil { files.forget(id) }
    }

    func publishFinished() {
        for entry in entries where entry.state != .running { continuation.yield(entry) }
    }

    func reattach(_ known: [BackgroundTransfer]) {
        var lost: [BackgroundTransfer] = []
        try? change { lost = $0.reattach(known, candidates: earlier) }
        files.sweep(keeping: Set(entries.map(\.transfer.id)))
        for transfer in lost { publish(transfer.id) }
    }

    private func publish(_ id: UUID) {
        if let entry = state.withLock({ $0.ledger[id] }) { continuation.yield(entry) }
    }

    func whenDelivered(_ completion: @escaping @MainActor @Sendable () -> Void) {
        call(state.withLock { $0.events.add(completion, at: Date()) })
    }

    private func call(_ handlers: [Handler]) {
        for handler in handlers { Task { @MainActor in handler() } }
    }

    /// Returns the transfer of a task that has reported an event.
    private func transfer(of task: URLSessionTask) -> BackgroundTransfer? {
        state.withLock { $0.events.goOn() }
        return BackgroundTransfer(text: task.taskDescription)
    }

    private func fail(_ transfer: BackgroundTransfer, _ error: NetworkError) {
        state.withLock { $0.failures[transfer.id] = error }
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        guard let transfer = transfer(of: downloadTask) else { return }
        let status = (downloadTask.response as? HTTPURLResponse)?.statusCode
        // The system removes the file when this method returns.
        do throws(NetworkError) {
            try files.take(location.path, of: transfer, status: status)
        } catch {
            fail(transfer, error)
        }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        guard let transfer = transfer(of: dataTask) else { return }
        do throws(NetworkError) {
            try files.append(data, to: transfer.id)
        } catch {
            fail(transfer, error)
            dataTask.cancel()
        }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let transfer = transfer(of: task) else { return }
        let isSecure = task.originalRequest?.url?.scheme == "https"
        let failure = error.map { SystemFailure.error($0, isSecure: isSecure, hasHead: task.response != nil) }
        let problem = state.withLock { $0.failures.removeValue(forKey: transfer.id) }
        let response = (task.response as? HTTPURLResponse).map { HTTPResponse($0, body: Data()) }
        let outcome = files.outcome(of: transfer, response, problem ?? failure)
        try? change { $0.finish(transfer, outcome) }
        publish(transfer.id)
    }

    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
        call(state.withLock { $0.events.finish(at: Date()) })
    }
}
#endif
