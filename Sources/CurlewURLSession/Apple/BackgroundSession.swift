// SPDX-License-Identifier: MIT
// Written against Apple's documentation. On Linux it is type-checked (Scripts/apple) and runs on a model of Darwin.

#if canImport(Darwin)
public import CurlewCore
import CurlewHTTP
public import Foundation

/// A session for transfers that continue while the app is suspended, and after the system has terminated the app.
///
///     let background = BackgroundSession(identifier: "example.films", folder: folder)
///     try await background.start(.film(7), to: path, with: client)                      // a download
///     try await background.start(.post("/films", body: .file(source)), with: client)    // an upload
///     for await transfer in background.outcomes { … }     // also those that ended while the app was away
///
/// Create the session at every launch with the same identifier, so that the system delivers the pending events.
public final class BackgroundSession: Sendable {
    /// The transfers that have ended or are lost. Each one is delivered at least once, and again at each launch until
    /// the app acknowledges it. The stream supports one consumer and buffers the newest 1,000 transfers.
    public let outcomes: AsyncStream<BackgroundTransfer>

    private let store: BackgroundStore
    private let delegate: BackgroundDelegate
    private let session: URLSession
    private let tls: TransportConfiguration.TLS
    private let isInvalid = Locked(false)

    /// Creates a background session and delivers the outcomes that the app has not acknowledged.
    ///
    /// - `identifier`: the name of the session for the system, and the beginning of the names of its files.
    /// - `folder`: the existing folder in which the outcomes are stored, with response bodies of at most 1 MiB.
    /// - `tls`: the TLS settings, as for `URLSessionTransport`. If one is unsupported, `start` throws `.configuration`.
    /// - `isDiscretionary`: whether the system chooses the time of the transfers by power and Wi-Fi. Default false.
    /// - `configure`: changes the system's configuration, for example `sharedContainerIdentifier`, which an extension
    ///   needs, or `allowsCellularAccess`. Caches, cookies and stored credentials remain disabled.
    public init(
        identifier: String, folder: String, tls: TransportConfiguration.TLS = TransportConfiguration.TLS(),
        isDiscretionary: Bool = false,
        configure: (URLSessionConfiguration) -> Void = { _ in }
    ) {
        self.tls = tls
        let (stream, continuation) = AsyncStream<BackgroundTransfer>.makeStream(
            bufferingPolicy: .bufferingNewest(BackgroundStore.capacity))
        outcomes = stream
        store = BackgroundStore(folder: folder, identifier: identifier) { continuation.yield($0) }
        delegate = BackgroundDelegate(store, AppleTrust(TransportConfiguration(tls: tls)))
        let settings = URLSessionConfiguration.background(withIdentifier: identifier)
        settings.isDiscretionary = isDiscretionary
        settings.tlsMinimumSupportedProtocolVersion = tls.minimumVersion == .v13 ? .TLSv13 : .TLSv12
        configure(settings)
        settings.sessionSendsLaunchEvents = true
        settings.urlCache = nil
        settings.httpCookieStorage = nil
        settings.urlCredentialStorage = nil
        session = URLSession(configuration: settings, delegate: delegate, delegateQueue: nil)
        let (store, queue) = (store, session.delegateQueue)
        session.getAllTasks { tasks in
            let known = tasks.compactMap(BackgroundTask.init)
            // This operation follows the pending delegate events, so that a transfer that has ended is not lost.
            queue.addOperation { store.reattach(known) }
        }
    }

    deinit { session.finishTasksAndInvalidate() }

    /// Refuses new transfers with `.refused(by: .shutdown)`, and lets the running ones finish. Until the last transfer
    /// has ended, no other session may have the same identifier.
    public func invalidate() {
        isInvalid.withLock { $0 = true }
        session.finishTasksAndInvalidate()
    }

    /// Starts the transfer of a call, with what `client` adds to the call: the interceptors that change requests run as
    /// in `APIClient.preview`, and tokens are loaded and refreshed. No interceptor processes the response. The timeouts
    /// and proxies of the client do not apply. The system repeats a broken transfer, so that a POST may arrive twice,
    /// follows redirects, and may send the fields of the request to another origin. A credential must be valid until
    /// the system sends the request. `tags` are kept with the transfer, so they must contain no secrets.
    ///
    /// - A call without a body is a download. With a success status, the response body replaces the file at `path`.
    ///   With any other status, the file is unchanged, and the outcome has the body if that has at most 1 MiB.
    /// - A call whose body is a file is an upload, without `path`. A response body of more than 1 MiB makes it fail.
    ///
    /// Throws `NetworkError`: `.invalidRequest` for any other call, `.storage` if the transfer cannot be recorded,
    /// `.configuration` if `tls` is unsupported or the client's `URLSessionTransport` has another TLS configuration
    /// that is not the default, `.refused(by: .shutdown)` after `invalidate()`, and the errors of `APIClient.preview`
    /// and of a refresh.
    @discardableResult
    public func start<Value>(
        _ request: Request<Value>, to path: String? = nil, with client: APIClient, tags: [String: String] = [:]
    ) async throws(NetworkError) -> BackgroundTransfer {
        try check(client)
        return try start(await client.requestToSend(for: request), path, tags)
    }

    /// Starts the transfer of an endpoint or a route, with the rules and the errors of the method for a `Request`.
    @discardableResult
    public func start(
        _ route: some Route, to path: String? = nil, with client: APIClient, tags: [String: String] = [:]
    ) async throws(NetworkError) -> BackgroundTransfer {
        try check(client)
        return try start(await client.requestToSend(for: route), path, tags)
    }

    /// A client that requires pins must not continue without them.
    private func check(_ client: APIClient) throws(NetworkError) {
        let configuration = TransportConfiguration(tls: tls)
        var problem = configuration.problems.first ?? Unsupported.problems(configuration, on: .current).first
        let other = (client.transport as? URLSessionTransport)?.configuration.tls ?? TransportConfiguration.TLS()
        if other != TransportConfiguration.TLS(), other != tls {
            problem = "The TLS configuration of the client is not that of the background session."
        }
        guard let problem else { return }
        throw NetworkError(.configuration, detail: problem, hint: "Pass the same supported tls: to BackgroundSession.")
    }

    private func start(
        _ request: HTTPRequest, _ path: String?, _ tags: [String: String]
    ) throws(NetworkError) -> BackgroundTransfer {
        let transfer = try BackgroundTransfer(request, to: path, tags: tags)
        let message = try URLRequest(head: request)
        // Creating a task in an invalidated session traps.
        return try isInvalid.withLock { isInvalid throws(NetworkError) in
            if isInvalid { throw SystemFailure.shutdown }
            try store.start(transfer)
            delegate.events.withLock { $0.reset() }
            let task: URLSessionTask
            switch transfer.kind {
            case .download: task = session.downloadTask(with: message)
            case .upload(let source): task = session.uploadTask(with: message, fromFile: URL(fileURLWithPath: source))
            }
            task.taskDescription = transfer.id.uuidString
            task.resume()
            return transfer
        }
    }

    /// The transfers that the app has not acknowledged, in the order of their starts: at most 1,000. A further start
    /// removes the oldest one that is not running, or else the oldest one.
    public var transfers: [BackgroundTransfer] { store.transfers }

    /// The error with which reading the ledger of the transfers failed; nil if it was read, or if there was none.
    ///
    /// A damaged ledger is renamed, and a new one begins. A ledger that cannot be read, that others can read or change,
    /// or that belongs to another user is not changed, and `start` throws `.storage` until it can be read. In both
    /// cases, what the system still transfers is delivered in `outcomes`: without its tags, and a download in a file
    /// beside the ledger, which is removed when the transfer is acknowledged.
    public var problem: NetworkError? { store.problem }

    /// Cancels a running transfer; its outcome then has a `failure` that says so. Does nothing for any other transfer.
    public func cancel(_ id: UUID) {
        session.getAllTasks { tasks in
            for task in tasks where task.taskDescription == id.uuidString { task.cancel() }
        }
    }

    /// Removes a transfer whose outcome the app has processed, and the stored response body. The file at the path of a
    /// download is kept. A running transfer is not affected. Throws `.storage` if the ledger cannot be written.
    public func acknowledge(_ id: UUID) throws(NetworkError) {
        try store.acknowledge(id)
    }

    /// Sets the completion handler of `application(_:handleEventsForBackgroundURLSession:completionHandler:)`. It is
    /// called once, on the main thread, when all events have been delivered: at once if that was less than 30 s ago and
    /// no event has followed.
    public func whenEventsAreDelivered(_ completion: @escaping @MainActor @Sendable () -> Void) {
        delegate.call(delegate.events.withLock { $0.add(completion, at: Date()) })
    }
}

extension BackgroundTask {
    /// Creates the description of a task; nil if this package did not create it.
    fileprivate init?(_ task: URLSessionTask) {
        guard let id = task.taskDescription.flatMap(UUID.init(uuidString:)) else { return nil }
        let (method, url) = (task.originalRequest?.httpMethod, task.originalRequest?.url)
        let line = "\(method ?? "GET") \(url?.scheme ?? "https")://\(url?.host ?? "")".printable
        self.init(id: id, isDownload: task is URLSessionDownloadTask, line: line)
    }
}

/// The delegate of the background session: it passes the events to the store. The session calls it serially.
private final class BackgroundDelegate: NSObject, URLSessionDownloadDelegate, URLSessionDataDelegate, Sendable {
    typealias Handler = @MainActor @Sendable () -> Void

    let events = Locked(LaunchEvents<Handler>())
    private let store: BackgroundStore
    private let trust: AppleTrust

    init(_ store: BackgroundStore, _ trust: AppleTrust) { (self.store, self.trust) = (store, trust) }

    func call(_ handlers: [Handler]) {
        for handler in handlers { Task { @MainActor in handler() } }
    }

    /// Returns the transfer of a task that has reported an event; nil for a task that this package did not create.
    private func transfer(of task: URLSessionTask) -> UUID? {
        events.withLock { $0.reset() }
        guard let known = BackgroundTask(task) else { return nil }
        store.adopt(known)
        return known.id
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        guard let id = transfer(of: downloadTask) else { return }
        // The system removes the file when this method returns.
        store.take(location.path, of: id, status: (downloadTask.response as? HTTPURLResponse)?.statusCode)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        guard let id = transfer(of: dataTask) else { return }
        if !store.append(data, of: id) { dataTask.cancel() }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let (store, id) = (store, transfer(of: task))
        trust.respond(
            to: challenge, warn: { _ in }, refuse: { error in id.map { store.fail($0, error) } },
            reply: completionHandler)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let id = transfer(of: task) else { return }
        let isSecure = task.originalRequest?.url?.scheme == "https"
        let failure = error.map {
            SystemFailure.background($0)
                ?? SystemFailure.error($0, isSecure: isSecure, hasHead: task.response != nil)
        }
        let response = (task.response as? HTTPURLResponse).map { HTTPResponse($0, body: Data()) }
        store.finish(id, response, failure)
    }

    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
        call(events.withLock { $0.finish(at: Date()) })
    }
}
#endif
