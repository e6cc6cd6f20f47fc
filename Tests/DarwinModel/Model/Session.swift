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

    struct State {
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
    let state: Locked<State>

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
        let stream = request.httpBodyStream.map { _ in URLSessionTask.Content.stream }
        return .init(self, request, request.httpBody.map { .data($0) } ?? stream ?? .none)
    }

    func uploadTask(with request: URLRequest, from data: Data) -> URLSessionUploadTask {
        .init(self, request, .data(data))
    }

    func uploadTask(with request: URLRequest, fromFile file: URL) -> URLSessionUploadTask {
        .init(self, request, .file(file.path))
    }

    func uploadTask(withStreamedRequest request: URLRequest) -> URLSessionUploadTask { .init(self, request, .stream) }
    func downloadTask(with request: URLRequest) -> URLSessionDownloadTask { .init(self, request, .none) }
    func webSocketTask(with request: URLRequest) -> URLSessionWebSocketTask { .init(self, request, .none) }

    func nextIdentifier() -> Int {
        state.withLock { state in
            precondition(!state.isInvalid, "Darwin ends the process: a task was created in an invalidated session")
            state.identifiers += 1
            return state.identifiers
        }
    }

    func keep(_ task: URLSessionTask) {
        let number = task.taskIdentifier
        state.withLock { ($0.tasks[number], $0.identifiers) = (task, max($0.identifiers, number)) }
        if let identifier = configuration.identifier { DarwinDaemon.keep(task, identifier) }
    }

    /// The tasks that run. No document says on which queue, and whether before the events of the launch: it is before.
    func getAllTasks(completionHandler: @escaping @Sendable ([URLSessionTask]) -> Void) {
        let tasks = state.withLock { Array($0.tasks.values) }
        completionHandler(tasks.filter { !$0.state.withLock { $0.isOver } })
    }

    func finishTasksAndInvalidate() { settle { $0.isInvalid = true } }

    func forget(_ task: URLSessionTask) {
        settle { $0.tasks[task.taskIdentifier] = nil }
        if let identifier = configuration.identifier { DarwinDaemon.forget(task, identifier) }
    }

    /// Like Darwin, which releases its delegate when the last task of an invalidated session has ended.
    private func settle(_ change: (inout State) -> Void) {
        state.withLock { state in
            change(&state)
            if state.isInvalid, state.tasks.isEmpty { (state.delegate, state.wires) = (nil, [:]) }
        }
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
