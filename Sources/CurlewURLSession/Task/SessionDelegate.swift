// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Responds to URLSession's challenges for certificates and credentials.
protocol ChallengePolicy: Sendable {
    /// Responds to a challenge by calling `reply` exactly once, immediately or later.
    ///
    /// - `warn`: passes a warning to the observers of the exchange.
    /// - `refuse`: sets the error of the exchange. Called before a reply that cancels the challenge.
    func respond(
        to challenge: URLAuthenticationChallenge, warn: @escaping @Sendable (ExchangeEvent.Warning) -> Void,
        refuse: @escaping @Sendable (NetworkError) -> Void,
        reply: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)
}

/// The latest refusal of each origin, of a thousand origins at most.
struct Refusals {
    private var errors: [Origin: NetworkError] = [:]

    subscript(origin: Origin) -> NetworkError? {
        get { errors.isEmpty ? nil : errors[origin] }
        set {
            if newValue != nil, errors.count >= 1000 { errors = [:] }
            if newValue != nil || !errors.isEmpty { errors[origin] = newValue }
        }
    }
}

/// The delegate of a URLSession. It forwards the events of each task to the exchange of the task. It makes no policy
/// decisions: redirects are returned as responses, nothing is cached, and no credential is looked up.
///
/// URLSession calls all methods serially on the delegate queue.
final class SessionDelegate: NSObject, URLSessionDataDelegate, Sendable {
    private let exchanges = Locked<[Int: any SessionExchange]>([:])
    private let policy: (any ChallengePolicy)?
    /// Why the latest challenge of an origin was refused. The system remembers this too: the next tasks for the origin
    /// end as if they had been cancelled, without a challenge.
    private let refusals = Locked(Refusals())

    init(_ policy: (any ChallengePolicy)? = nil) {
        self.policy = policy
    }

    func add(_ exchange: any SessionExchange, for task: URLSessionTask) {
        exchanges.withLock { $0[task.taskIdentifier] = exchange }
    }

    private func exchange(of task: URLSessionTask) -> (any SessionExchange)? {
        exchanges.withLock { $0[task.taskIdentifier] }
    }

    private func bridge(of task: URLSessionTask) -> TaskBridge? { exchange(of: task) as? TaskBridge }

    /// Returns the WebSocket connection of a task; nil for another task.
    func socket(of task: URLSessionTask) -> SocketBridge? { exchange(of: task) as? SocketBridge }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        if let bridge = bridge(of: dataTask) { receive(response, bridge) }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        guard let bridge = bridge(of: dataTask) else { return }
        bridge.receive(.data(data))
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        if let policy {
            guard let exchange = exchange(of: task) else {
                return completionHandler(.cancelAuthenticationChallenge, nil)
            }
            let refuse = { @Sendable [refusals] (error: NetworkError) in
                exchange.recordCause(error)
                refusals.withLock { $0[exchange.request.origin] = error }
            }
            return policy.respond(
                to: challenge, warn: { exchange.context.record(.warned($0)) }, refuse: refuse, reply: completionHandler)
        }
        let bridge = bridge(of: task)
        // Linux: with any other disposition, URLSession waits forever, challenges again or traps. At this point it has
        // received the complete response.
        if let response = challenge.failureResponse, let bridge, !bridge.hasHead { receive(response, bridge) }
        bridge?.handle(.challenge)
        completionHandler(.cancelAuthenticationChallenge, nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        // The task has its first stream from its request.
        guard let bridge = bridge(of: task) else { return completionHandler(nil) }
        guard bridge.context.mayRepeat(bridge.request), bridge.request.body.canReplay else {
            bridge.recordCause(
                NetworkError(
                    .connectionLost(.requestMayHaveArrived),
                    detail: "URLSession tried to repeat a request that must not be sent twice."))
            return completionHandler(nil)
        }
        // If the body cannot be produced, the exchange must fail: ending the stream would look like the end of the
        // body.
        let stream = bridge.upload?.openStream { bridge.fail($0) }
        stream?.feed.map(bridge.feeds.adopt)
        completionHandler(stream?.input)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        bridge(of: task)?.recordSent(totalBytesSent, of: totalBytesExpectedToSend)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        completionHandler(nil)
    }

    #if canImport(Darwin)
    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        exchange(of: task)?.waitForNetwork()
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse
    ) {
        let (status, fields) = (HTTPStatus(response.statusCode), ResponseFields.headers(of: response))
        exchange(of: task)?.context.record(.interim(status, fields))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        exchange(of: task)?.recordMetrics(ExchangeMetrics(metrics))
    }
    #endif

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let exchange = exchanges.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else { return }
        if (error as NSError?)?.code == NSURLErrorCancelled,
            let refusal = refusals.withLock({ $0[exchange.request.origin] })
        {
            exchange.recordCause(refusal)
        }
        if let socket = exchange as? SocketBridge { return socket.complete(error, response: task.response) }
        guard let bridge = exchange as? TaskBridge else { return }
        if error == nil, !bridge.hasHead, let response = task.response { receiveLate(response, bridge) }
        bridge.end { hasHead in
            error.map { SystemFailure.error($0, isSecure: bridge.request.origin.isSecure, hasHead: hasHead) }
        }
    }

    /// Handles a response head that was not reported although the task ended successfully. URLSession on Linux
    /// withholds the head of a redirect. If the redirect has no target, it never reports the head and drops the body.
    private func receiveLate(_ response: URLResponse, _ bridge: TaskBridge) {
        receive(response, bridge)
        if !bridge.isEnded, bridge.declaredLength != 0 {
            bridge.fail(
                NetworkError(
                    .badResponse, detail: "\(Platform.current.engine) dropped the body of a response.",
                    hint: Platform.current.hint("Follow redirects with an interceptor", orCurl: "which delivers it")))
        }
    }

    private func receive(_ response: URLResponse, _ bridge: TaskBridge) {
        guard let response = response as? HTTPURLResponse else {
            return bridge.fail(NetworkError(.badResponse, detail: "The response is not an HTTP response."))
        }
        do throws(NetworkError) {
            let head = try TaskMachine.Head(response, for: bridge.request.method, bridge.context.limits)
            refusals.withLock { $0[bridge.request.origin] = nil }
            bridge.receive(.head(head))
        } catch {
            bridge.fail(error)
        }
    }
}
