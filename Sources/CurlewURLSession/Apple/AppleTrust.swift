// SPDX-License-Identifier: MIT
// Written against Apple's documentation. On Linux it is type-checked (Scripts/apple) and runs on a model of Darwin.

#if canImport(Darwin)
import CurlewCore
import CurlewHTTP
import Foundation
import Security

/// Responds to challenges for server trust, client certificates and proxy credentials.
struct AppleTrust: ChallengePolicy {
    typealias Reply = @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void

    private static let queue = DispatchQueue(label: "curlew.urlsession.trust", attributes: .concurrent)
    private let tls: TransportConfiguration.TLS
    private let proxy: TransportConfiguration.Proxy.Server?
    /// The client identity, once it was imported.
    private let identity = Locked<URLCredential?>(nil)

    init(_ configuration: TransportConfiguration) {
        tls = configuration.tls
        if case .fixed(let server, _) = configuration.proxy { proxy = server } else { proxy = nil }
    }

    /// Responds to a challenge with values from the configuration, or leaves the challenge to the system.
    ///
    /// Certificates are evaluated and imported on a separate queue: the system may contact other hosts for them (AIA,
    /// OCSP), deriving the key of an archive takes its time, and the delegate's queue serves all exchanges.
    func respond(
        to challenge: URLAuthenticationChallenge, warn: @escaping @Sendable (ExchangeEvent.Warning) -> Void,
        refuse: @escaping @Sendable (NetworkError) -> Void, reply: @escaping Reply
    ) {
        let space = challenge.protectionSpace
        let topic = ChallengeTopic(space)
        let verdict = ChallengeVerdict(
            topic, isConfigured: isConfigured(topic, host: space.host), failures: challenge.previousFailureCount)
        switch (verdict, topic) {
        case (.own, .serverTrust):
            guard let trust = space.serverTrust else { return reply(.performDefaultHandling, nil) }
            evaluate(trust, host: space.host, warn, refuse, reply)
        case (.own, .clientCertificate):
            Self.queue.async {
                let credential = identity.withLock { known in
                    known = known ?? tls.identity.flatMap(Self.credential)
                    return known
                }
                if let credential { return reply(.useCredential, credential) }
                refuse(
                    NetworkError(
                        .configuration, detail: "The client identity cannot be read.",
                        hint: "Check TransportConfiguration.TLS.identity: the archive and its passphrase."))
                reply(.cancelAuthenticationChallenge, nil)
            }
        case (.own, .proxy):
            let (user, password) = (proxy?.user ?? "", proxy?.password ?? "")
            reply(.useCredential, URLCredential(user: user, password: password, persistence: .none))
        case (.system, _): reply(.performDefaultHandling, nil)
        case (.decline, _), (.own, .account): reply(.rejectProtectionSpace, nil)
        }
    }

    private func isConfigured(_ topic: ChallengeTopic, host: String) -> Bool {
        switch topic {
        case .serverTrust: tls.trustedRoots != .system || tls.pins.first(for: host.lowercased()) != nil
        case .clientCertificate: tls.identity?.isMeant(for: host) ?? false
        case .proxy: proxy?.user != nil
        case .account: false
        }
    }

    /// Evaluates the certificate of a server, and then checks the pins. Pins do not replace the evaluation.
    private func evaluate(
        _ trust: SecTrust, host: String, _ warn: @escaping @Sendable (ExchangeEvent.Warning) -> Void,
        _ refuse: @escaping @Sendable (NetworkError) -> Void, _ reply: @escaping Reply
    ) {
        let pins = tls.pins.first(for: host.lowercased())
        // The trust object is passed from queue to queue and used by one queue at a time.
        nonisolated(unsafe) let trust = trust
        let fail = { @Sendable (error: NetworkError) in
            refuse(error)
            reply(.cancelAuthenticationChallenge, nil)
        }
        Self.queue.async {
            guard setRoots(of: trust) else {
                return fail(
                    NetworkError(
                        .configuration, detail: "The trusted roots cannot be read.",
                        hint: "Check TransportConfiguration.TLS.trustedRoots: certificates in PEM form."))
            }
            // This function must be called on the queue on which it reports its result.
            let status = SecTrustEvaluateAsyncWithError(trust, Self.queue) { trust, isTrusted, problem in
                guard isTrusted else {
                    var error = NetworkError(
                        .secureConnectionFailed(Self.failure(problem)),
                        detail: problem.map { CFErrorCopyDescription($0) as String }
                            ?? "The certificate is not trusted.")
                    error.certificates = ExchangeMetrics.Connection.PeerCertificate.list(Self.chain(of: trust))
                    return fail(error)
                }
                if let pins {
                    let (warnings, found) = pins.verdict(
                        on: { Self.chain(of: trust).map(TransportConfiguration.TLS.PinSet.key(ofCertificate:)) },
                        host: host,
                        at: Date())
                    for warning in warnings { warn(warning) }
                    if let found {
                        var error = pins.refusal(of: host, found: found)
                        error.certificates = ExchangeMetrics.Connection.PeerCertificate.list(Self.chain(of: trust))
                        return fail(error)
                    }
                }
                reply(.useCredential, URLCredential(trust: trust))
            }
            if status != errSecSuccess {
                fail(
                    NetworkError(
                        .secureConnectionFailed(.untrusted),
                        detail: "The system did not evaluate the certificate (status \(status))."))
            }
        }
    }

    /// Returns the certificate path that the system built, which may be incomplete, with the server's own certificate
    /// first. Call this method after an evaluation. For a trusted server, the path ends at the root.
    private static func chain(of trust: SecTrust) -> [Data] {
        let chain = SecTrustCopyCertificateChain(trust) as? [SecCertificate]
        return (chain ?? []).map { SecCertificateCopyData($0) as Data }
    }

    /// Returns the certificates that the server presented, if URLSession itself rejected them; empty otherwise.
    static func certificates(in error: any Error) -> [ExchangeMetrics.Connection.PeerCertificate] {
        (error as? URLError)?.failureURLPeerTrust.map { ExchangeMetrics.Connection.PeerCertificate.list(chain(of: $0)) }
            ?? []
    }

    private func setRoots(of trust: SecTrust) -> Bool {
        let text: Data
        switch tls.trustedRoots {
        case .system: return true
        case .pem(let data): text = data
        case .file(let path):
            guard let data = FileManager.default.contents(atPath: path) else { return false }
            text = data
        }
        let roots = PEMText.certificates(in: text).compactMap { SecCertificateCreateWithData(nil, $0 as CFData) }
        guard !roots.isEmpty else { return false }
        return SecTrustSetAnchorCertificates(trust, roots as CFArray) == errSecSuccess
            && SecTrustSetAnchorCertificatesOnly(trust, true) == errSecSuccess
    }

    private static func failure(_ problem: CFError?) -> NetworkError.TLSFailure {
        switch problem.map({ OSStatus(CFErrorGetCode($0)) }) {
        case errSecCertificateExpired?: .expired
        case errSecCertificateNotValidYet?: .notYetValid
        case errSecHostNameMismatch?: .wrongHost
        default: .untrusted
        }
    }

    private static func credential(_ identity: TransportConfiguration.TLS.ClientIdentity) -> URLCredential? {
        let archive: Data?
        switch identity.source {
        case .pkcs12(let data): archive = data
        case .pkcs12File(let path): archive = FileManager.default.contents(atPath: path)
        case .pem, .pemFiles: archive = nil
        }
        guard let archive else { return nil }
        var items: CFArray?
        var options: [String: Any] = [kSecImportExportPassphrase as String: identity.passphrase ?? ""]
        // Otherwise macOS would store the key in the user's keychain.
        if #available(iOS 18, macOS 15, tvOS 18, watchOS 11, visionOS 2, *) {
            options[kSecImportToMemoryOnly as String] = true
        }
        guard SecPKCS12Import(archive as CFData, options as CFDictionary, &items) == errSecSuccess,
            let first = (items as? [[String: Any]])?.first,
            let object = first[kSecImportItemIdentity as String] as CFTypeRef?,
            CFGetTypeID(object) == SecIdentityGetTypeID()
        else { return nil }
        let key = unsafeDowncast(object, to: SecIdentity.self)
        let chain = (first[kSecImportItemCertChain as String] as? [SecCertificate])?.dropFirst()
        return URLCredential(identity: key, certificates: chain.map(Array.init), persistence: .none)
    }
}

extension ChallengeTopic {
    fileprivate init(_ space: URLProtectionSpace) {
        if space.isProxy() {
            self = .proxy
            return
        }
        switch space.authenticationMethod {
        case NSURLAuthenticationMethodServerTrust: self = .serverTrust
        case NSURLAuthenticationMethodClientCertificate: self = .clientCertificate
        default: self = .account
        }
    }
}
#endif
