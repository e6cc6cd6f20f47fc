// SPDX-License-Identifier: MIT
// swift-format-ignore-file: AlwaysUseLowerCamelCase, AllPublicDeclarationsHaveDocumentation

import CurlewCore
import CurlewCurl
public import Foundation
public import FoundationNetworking

/// A model of Darwin's URLSession, which sends with `CurlTransport`. The Darwin branch of the package is compiled with
/// it, in its place: a declaration of the own module wins over an imported one.
public class URLSession: NSObject, @unchecked Sendable {
    enum AuthChallengeDisposition: Sendable {
        case useCredential, performDefaultHandling, cancelAuthenticationChallenge, rejectProtectionSpace
    }
    enum ResponseDisposition: Sendable { case cancel, allow, becomeDownload, becomeStream }

    private struct State {
        var delegate: (any URLSessionDelegate)?
        var tasks: [Int: URLSessionTask] = [:]
        var identifiers = 0
        var isInvalid = false
        var wires: [Wire: CurlTransport] = [:]
        /// The credentials of origins whose certificate was accepted.
        var trusted: [String: Wire] = [:]
        var refused: Set<String> = []
    }

    /// What distinguishes connections: the authorities that the delegate trusts, its identity, and its proxy.
    struct Wire: Hashable, Sendable {
        var anchors: Data?
        var identity: SecIdentity?
        var user: String?
        var password: String?
    }

    let configuration: URLSessionConfiguration
    let delegateQueue: OperationQueue
    private let state: Locked<State>

    init(
        configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)? = nil,
        delegateQueue queue: OperationQueue? = nil
    ) {
        self.configuration = configuration.copied()
        delegateQueue = queue ?? OperationQueue()
        if queue == nil { delegateQueue.maxConcurrentOperationCount = 1 }
        state = Locked(State(delegate: delegate))
        super.init()
        if configuration.identifier != nil { DarwinDaemon.attach(self) }
    }

    var delegate: (any URLSessionDelegate)? { state.withLock { $0.delegate } }
    var behaviour: DarwinBehaviour { configuration.behaviour }

    func dataTask(with request: URLRequest) -> URLSessionDataTask {
        let body: URLSessionTask.Content =
            if let data = request.httpBody { .data(data) } else if request.httpBodyStream != nil { .stream } else {
                .none
            }
        return add { URLSessionDataTask(self, $0, request, body) }
    }

    func uploadTask(with request: URLRequest, from data: Data) -> URLSessionUploadTask {
        add { URLSessionUploadTask(self, $0, request, .data(data)) }
    }

    func uploadTask(with request: URLRequest, fromFile file: URL) -> URLSessionUploadTask {
        add { URLSessionUploadTask(self, $0, request, .file(file.path)) }
    }

    func uploadTask(withStreamedRequest request: URLRequest) -> URLSessionUploadTask {
        add { URLSessionUploadTask(self, $0, request, .stream) }
    }

    func downloadTask(with request: URLRequest) -> URLSessionDownloadTask {
        add { URLSessionDownloadTask(self, $0, request, .none) }
    }

    func webSocketTask(with request: URLRequest) -> URLSessionWebSocketTask {
        add { URLSessionWebSocketTask(self, $0, request, .none) }
    }

    private func add<Task: URLSessionTask>(_ make: (Int) -> Task) -> Task {
        let number = state.withLock { state in
            precondition(!state.isInvalid, "Darwin ends the process: a task was created in an invalidated session")
            state.identifiers += 1
            return state.identifiers
        }
        let task = make(configuration.identifier.map { DarwinDaemon.number(in: $0) } ?? number)
        keep(task)
        return task
    }

    func keep(_ task: URLSessionTask) {
        state.withLock { $0.tasks[task.taskIdentifier] = task }
        if let identifier = configuration.identifier { DarwinDaemon.keep(task, identifier) }
    }

    func getAllTasks(completionHandler: @escaping @Sendable ([URLSessionTask]) -> Void) {
        let tasks = state.withLock { Array($0.tasks.values) }
        delegateQueue.addOperation { completionHandler(tasks.sorted { $0.taskIdentifier < $1.taskIdentifier }) }
    }

    /// Like Darwin, which releases its delegate when the last task has ended.
    func finishTasksAndInvalidate() {
        state.withLock { state in
            state.isInvalid = true
            if state.tasks.isEmpty { state.delegate = nil }
        }
        releaseWires()
    }

    func invalidateAndCancel() {
        finishTasksAndInvalidate()
        for task in state.withLock({ Array($0.tasks.values) }) { task.cancel() }
    }

    func forget(_ task: URLSessionTask) {
        state.withLock { state in
            state.tasks[task.taskIdentifier] = nil
            if state.isInvalid, state.tasks.isEmpty { state.delegate = nil }
        }
        if let identifier = configuration.identifier { DarwinDaemon.forget(task, identifier) }
        releaseWires()
    }

    private func releaseWires() {
        state.withLock { if $0.isInvalid, $0.tasks.isEmpty { $0.wires = [:] } }
    }

    /// The transport for connections of one kind.
    func transport(_ wire: Wire) -> CurlTransport {
        state.withLock { state in
            if let known = state.wires[wire] { return known }
            let made = CurlTransport(configuration: configuration.transport(wire))
            state.wires[wire] = made
            return made
        }
    }

    /// The app is gone, and with it its delegate.
    func detach() { state.withLock { $0.delegate = nil } }

    func trusted(_ origin: String) -> Wire? { state.withLock { $0.trusted[origin] } }
    func isRefused(_ origin: String) -> Bool { state.withLock { $0.refused.contains(origin) } }
    func trust(_ origin: String, _ wire: Wire) { state.withLock { $0.trusted[origin] = wire } }
    func refuse(_ origin: String) { state.withLock { _ = $0.refused.insert(origin) } }
}

/// Each property of `Values`, in an object.
@dynamicMemberLookup
public class URLSessionConfiguration: NSObject, @unchecked Sendable {
    enum Version { case TLSv12, TLSv13 }

    public struct Values {
        var behaviour = DarwinBehaviour()
        var identifier: String?
        public var urlCache: URLCache?
        public var httpCookieStorage: HTTPCookieStorage?
        var urlCredentialStorage: URLCredentialStorage?
        var httpShouldSetCookies = true
        var httpCookieAcceptPolicy = HTTPCookie.AcceptPolicy.onlyFromMainDocumentDomain
        var requestCachePolicy = NSURLRequest.CachePolicy.useProtocolCachePolicy
        var timeoutIntervalForRequest = 60.0
        var timeoutIntervalForResource = 7 * 86_400.0
        var httpMaximumConnectionsPerHost = 6
        public var httpAdditionalHeaders: [AnyHashable: Any]?
        var connectionProxyDictionary: [AnyHashable: Any]?
        var tlsMinimumSupportedProtocolVersion = Version.TLSv12
        var waitsForConnectivity = false
        var isDiscretionary = false
        var sessionSendsLaunchEvents = false
        var sharedContainerIdentifier: String?
    }

    private var values = Values()

    public subscript<Value>(dynamicMember path: WritableKeyPath<Values, Value>) -> Value {
        get { values[keyPath: path] }
        set { values[keyPath: path] = newValue }
    }

    public static var ephemeral: URLSessionConfiguration { URLSessionConfiguration() }
    public static var `default`: URLSessionConfiguration {
        let configuration = URLSessionConfiguration()
        (configuration.urlCache, configuration.httpCookieStorage) = (.shared, .shared)
        return configuration
    }

    static func background(withIdentifier identifier: String) -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration()
        configuration.identifier = identifier
        return configuration
    }

    public override func copy() -> Any { copied() }

    func copied() -> URLSessionConfiguration {
        let copy = URLSessionConfiguration()
        copy.values = values
        return copy
    }

    /// The configuration of the transport that sends.
    fileprivate func transport(_ wire: URLSession.Wire) -> TransportConfiguration {
        var result = TransportConfiguration(bodyBuffer: 64 << 10, smallBody: 0)
        result.pool.perHost = values.httpMaximumConnectionsPerHost
        result.tls.minimumVersion = values.tlsMinimumSupportedProtocolVersion == .TLSv13 ? .v13 : .v12
        if let anchors = wire.anchors { result.tls.trustedRoots = .pem(anchors) }
        result.tls.identity = wire.identity.map { .pkcs12($0.archive, passphrase: $0.passphrase) }
        func setting<Value>(_ name: String) -> Value? { values.connectionProxyDictionary?[name] as? Value }
        let isSocks = setting("SOCKSEnable") == 1
        if let host: String = setting(isSocks ? "SOCKSProxy" : "HTTPProxy"),
            let port: Int = setting(isSocks ? "SOCKSPort" : "HTTPPort")
        {
            result.proxy = .fixed(
                TransportConfiguration.Proxy.Server(
                    isSocks ? .socks5 : .http, host: host, port: port, user: wire.user, password: wire.password))
        } else if values.connectionProxyDictionary == nil {
            result.proxy = .environment
        }
        return result
    }
}
