// SPDX-License-Identifier: MIT
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CurlewCore
import CurlewHTTP
import Foundation
import TestServers

let NSURLAuthenticationMethodServerTrust = "server trust"
let NSURLAuthenticationMethodClientCertificate = "client certificate"
let NSURLAuthenticationMethodHTTPBasic = "basic"

final class URLProtectionSpace: NSObject, @unchecked Sendable {
    let host: String
    let authenticationMethod: String
    let serverTrust: SecTrust?
    private let proxy: Bool

    init(host: String, _ method: String, _ trust: SecTrust? = nil, isProxy: Bool = false) {
        (self.host, authenticationMethod, serverTrust, proxy) = (host, method, trust, isProxy)
    }

    override func isProxy() -> Bool { proxy }
}

final class URLAuthenticationChallenge: NSObject, Sendable {
    let protectionSpace: URLProtectionSpace
    let previousFailureCount: Int
    let failureResponse: URLResponse? = nil

    init(_ space: URLProtectionSpace, _ failures: Int) { (protectionSpace, previousFailureCount) = (space, failures) }
}

final class URLCredential: NSObject, Sendable {
    enum Persistence { case none, forSession, permanent }

    let user: String?
    let password: String?
    let identity: SecIdentity?

    init(user: String, password: String, persistence: Persistence) {
        (self.user, self.password, identity) = (user, password, nil)
    }
    init(trust: SecTrust) { (user, password, identity) = (nil, nil, nil) }
    init(identity: SecIdentity, certificates: [Any]?, persistence: Persistence) {
        (user, password, self.identity) = (nil, nil, identity)
    }
}

extension URLSessionTask {
    typealias ChallengeAnswer = (URLSession.AuthChallengeDisposition, URLCredential?)

    func answer(to space: URLProtectionSpace, failures: Int) async -> ChallengeAnswer? {
        await ask { (delegate: any URLSessionTaskDelegate, session, reply) in
            delegate.urlSession(session, task: self, didReceive: URLAuthenticationChallenge(space, failures)) {
                reply(($0, $1))
            }
        }
    }

    /// Asks the delegate about the certificate of an origin and for a client's: with the first task for the origin, in
    /// place of the first on each connection. Whether the server asks for a certificate is not known here, so it counts
    /// as asking.
    func agreedWire(for request: URLRequest) async throws -> URLSession.Wire {
        guard let url = request.url, url.scheme == "https" || url.scheme == "wss", let host = url.host else {
            return URLSession.Wire()
        }
        let session = session
        let port = url.port ?? 443
        let origin = "\(host):\(port)"
        let (known, isRefused) = session.state.withLock { ($0.trusted[origin], $0.refused.contains(origin)) }
        if session.behaviour.remembersRefusals, isRefused { throw URLError(.cancelled) }
        if let known { return known }
        var wire = URLSession.Wire()
        // Without a handshake there is no challenge; the transport finds out why.
        guard let trust = try await SecTrust.presented(by: host, port).value else { return wire }
        let space = URLProtectionSpace(host: host, NSURLAuthenticationMethodServerTrust, trust)
        switch await answer(to: space, failures: 0)?.0 {
        case .useCredential: wire.anchors = trust.anchors
        case .cancelAuthenticationChallenge?: throw refusal(of: origin)
        default: break
        }
        let other = URLProtectionSpace(host: host, NSURLAuthenticationMethodClientCertificate)
        switch await answer(to: other, failures: 0) {
        case (.useCredential, let credential)?: wire.identity = credential?.identity
        case (.cancelAuthenticationChallenge, _)?: throw refusal(of: origin)
        default: break
        }
        session.state.withLock { [wire] in $0.trusted[origin] = wire }
        return wire
    }

    private func refusal(of origin: String) -> URLError {
        session.state.withLock { _ = $0.refused.insert(origin) }
        return URLError(.cancelled)
    }
}
