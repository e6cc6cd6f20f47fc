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
/// Create the session at every launch with the same identifier, so that the system delivers the pending events. For
/// typed calls, pass it to `URLSessionTransport(background:)`, and see `RequestOptions.backgroundIdentifier`. The
/// transfers of such calls are not among `outcomes`.
///
/// No interceptor runs. Attach credentials before `start`, and make sure that they are valid for long enough. The
/// system follows redirects and may send the fields of the request to the new origin. Omit credentials if a server
/// redirects to another origin.
public final class BackgroundSession: Sendable {
    /// The transfers that have ended or are lost. Each entry is delivered at least once, and again at each launch until
    /// the app acknowledges it. The stream supports one consumer and buffers the newest 1000 entries.
    public let outcomes: AsyncStream<BackgroundLedger.Entry>

    private let store: BackgroundStore
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
        store = BackgroundStore(BackgroundFiles(folder: folder, identifier: identifier)) { continuation.yield($0) }
        delegate = BackgroundDelegate(store)
        let settings = URLSessionConfiguration.background(withIdentifier: identifier)
        settings.isDiscretionary = isDiscretionary
        settings.sessionSendsLaunchEvents = true
        settings.urlCache = nil
        settings.httpCookieStorage = nil
        settings.urlCredentialStorage = nil
        session = URLSession(configuration: settings, delegate: delegate, delegateQueue: nil)
        store.reportEarlier()
        let (store, queue) = (store, session.delegateQueue)
        session.getAllTasks { tasks in
            let known = tasks.compactMap { BackgroundTransfer(text: $0.taskDescription) }
            // This operation follows the pending delegate events, so that a transfer that has ended is not marked as
            // lost.
            queue.addOperation { store.reattach(known) }
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
        // A task is created only for a transfer that the ledger contains.
        _ = try (transfer.text(), URLRequest(head: request))
        try store.start(transfer)
        try start(request, transfer)
        return transfer
    }

    /// The known transfers and their states, in the order in which they were started.
    public var entries: [BackgroundLedger.Entry] { store.entries }

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
        try store.acknowledge(id)
    }

    /// Sets the completion handler of `application(_:handleEventsForBackgroundURLSession:completionHandler:)`.
    ///
    /// The handler is called on the main thread when all events have been delivered. If that happened within the last
    /// 30 seconds, and no event or new transfer has followed, the handler is called immediately.
    public func whenEventsAreTold(_ completion: @escaping @MainActor @Sendable () -> Void) {
        delegate.whenDelivered(completion)
    }
}

extension BackgroundSession: BackgroundTasks {
    func start(_ request: HTTPRequest, _ transfer: BackgroundTransfer) throws(NetworkError) {
        let (message, text) = (try URLRequest(head: request), try transfer.text())
        delegate.goOn()
        let task: URLSessionTask
        switch transfer.kind {
        case .download: task = session.downloadTask(with: message)
        case .upload(let path): task = session.uploadTask(with: message, fromFile: URL(fileURLWithPath: path))
        }
        task.taskDescription = text
        task.resume()
    }

    /// The exchanges of calls with `RequestOptions.backgroundIdentifier`.
    var calls: BackgroundCalls { BackgroundCalls(store: store, tasks: self) }
}

/// The delegate of the background session: it passes the events to the store. The session calls it serially.
private final class BackgroundDelegate: NSObject, URLSessionDownloadDelegate, URLSessionDataDelegate, Sendable {
    private typealias Handler = @MainActor @Sendable () -> Void

    private let store: BackgroundStore
    private let events = Locked(LaunchEvents<Handler>())

    init(_ store: BackgroundStore) {
        self.store = store
    }

    /// Records that an event or a new transfer has followed the last report.
    func goOn() {
        events.withLock { $0.goOn() }
    }

    func whenDelivered(_ completion: @escaping @MainActor @Sendable () -> Void) {
        call(events.withLock { $0.add(completion, at: Date()) })
    }

    private func call(_ handlers: [Handler]) {
        for handler in handlers { Task { @MainActor in handler() } }
    }

    /// Returns the transfer of a task that has reported an event.
    private func transfer(of task: URLSessionTask) -> BackgroundTransfer? {
        goOn()
        return BackgroundTransfer(text: task.taskDescription)
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        guard let transfer = transfer(of: downloadTask) else { return }
        let status = (downloadTask.response as? HTTPURLResponse)?.statusCode
        // The system removes the file when this method returns.
        store.take(location.path, of: transfer, status: status)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        guard let transfer = transfer(of: dataTask) else { return }
        if !store.append(data, of: transfer) { dataTask.cancel() }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let transfer = transfer(of: task) else { return }
        let isSecure = task.originalRequest?.url?.scheme == "https"
        let failure = error.map { SystemFailure.error($0, isSecure: isSecure, hasHead: task.response != nil) }
        let response = (task.response as? HTTPURLResponse).map { HTTPResponse($0, body: Data()) }
        store.finish(transfer, response, failure)
    }

    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
        call(events.withLock { $0.finish(at: Date()) })
    }
}
#endif
