// SPDX-License-Identifier: MIT
// Written against Apple's documentation and type-checked on Linux against stubs (Scripts/apple); not run there.

#if canImport(Darwin)
import CurlewCore
import CurlewHTTP
import Foundation
import Security

/// Whom a session trusts, as whom it shows itself, and what it tells its proxy.
struct AppleTrust: ChallengePolicy {
    private let tls: TLSConfiguration
    private let proxy: ProxyServer?

    init(_ configuration: TransportConfiguration) {
        tls = configuration.tls
        if case .fixed(let server, _) = configuration.proxy { proxy = server } else { proxy = nil }
    }

    func answer(
        to challenge: URLAuthenticationChallenge, warn: (TransportWarning) -> Void, refuse: (NetworkError) -> Void
    ) -> (URLSession.AuthChallengeDisposition, URLCredential?)? {
        let space = challenge.protectionSpace
        if space.isProxy() {
            guard let user = proxy?.user, challenge.previousFailureCount == 0 else { return nil }
            let credential = URLCredential(user: user, password: proxy?.password ?? "", persistence: .none)
            return (.useCredential, credential)
        }
        switch space.authenticationMethod {
        case NSURLAuthenticationMethodServerTrust:
            guard let trust = space.serverTrust else { return nil }
            return server(trust, host: space.host, warn, refuse)
        case NSURLAuthenticationMethodClientCertificate:
            guard let identity = tls.identity, identity.isMeant(for: space.host), challenge.previousFailureCount == 0
            else { return (.performDefaultHandling, nil) }
            guard let credential = Self.credential(identity) else {
                refuse(
                    NetworkError(
                        .configuration, detail: "The client identity cannot be read.",
                        hint: "Check TLSConfiguration.identity: the archive and its passphrase."))
                return (.cancelAuthenticationChallenge, nil)
            }
            return (.useCredential, credential)
        default: return nil
        }
    }

    /// The certificate is checked in every case; the pins come on top.
    private func server(
        _ trust: SecTrust, host: String, _ warn: (TransportWarning) -> Void, _ refuse: (NetworkError) -> Void
    ) -> (URLSession.AuthChallengeDisposition, URLCredential?)? {
        let pins = tls.pins.first(for: host.lowercased())
        if tls.trustedRoots == .system, pins == nil { return nil }
        guard setRoots(of: trust) else {
            refuse(
                NetworkError(
                    .configuration, detail: "The trusted roots cannot be read.",
                    hint: "Check TLSConfiguration.trustedRoots: certificates in PEM form."))
            return (.cancelAuthenticationChallenge, nil)
        }
        var problem: CFError?
        guard SecTrustEvaluateWithError(trust, &problem) else {
            refuse(
                NetworkError(
                    .secureConnectionFailed(Self.failure(problem)),
                    detail: problem.map { CFErrorCopyDescription($0) as String } ?? "The certificate is not trusted."))
            return (.cancelAuthenticationChallenge, nil)
        }
        if let pins, let error = mismatch(pins, trust, host: host, warn) {
            refuse(error)
            return (.cancelAuthenticationChallenge, nil)
        }
        return (.useCredential, URLCredential(trust: trust))
    }

    private func mismatch(
        _ pins: PinSet, _ trust: SecTrust, host: String, _ warn: (TransportWarning) -> Void
    ) -> NetworkError? {
        switch (pins.state(at: Date()), pins.expires) {
        case (.ended, let date?):
            warn(.pinsExpired(host: host, on: date))
            return nil
        case (.endsSoon, let date?): warn(.pinsExpireSoon(host: host, on: date))
        default: break
        }
        let chain = SecTrustCopyCertificateChain(trust) as? [SecCertificate]
        let certificate = chain?.first.map { SecCertificateCopyData($0) as Data }
        let found = certificate.flatMap { PinSet.key(ofCertificate: $0) } ?? "unreadable"
        if pins.keys.contains(found) { return nil }
        guard pins.mode == .enforce else {
            warn(.pinMismatch(host: host, found: found))
            return nil
        }
        return NetworkError(
            .secureConnectionFailed(.pinMismatch),
            detail: "The key of \(host) is \(found), which is not among its pins.")
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

    private static func credential(_ identity: ClientIdentity) -> URLCredential? {
        let archive: Data?
        switch identity.source {
        case .pkcs12(let data): archive = data
        case .pkcs12File(let path): archive = FileManager.default.contents(atPath: path)
        case .pem, .pemFiles: archive = nil
        }
        guard let archive else { return nil }
        var items: CFArray?
        let options = [kSecImportExportPassphrase as String: identity.passphrase ?? ""] as CFDictionary
        guard SecPKCS12Import(archive as CFData, options, &items) == errSecSuccess,
            let first = (items as? [[String: Any]])?.first,
            let object = first[kSecImportItemIdentity as String] as CFTypeRef?,
            CFGetTypeID(object) == SecIdentityGetTypeID()
        else { return nil }
        let key = unsafeDowncast(object, to: SecIdentity.self)
        let chain = (first[kSecImportItemCertChain as String] as? [SecCertificate])?.dropFirst()
        return URLCredential(identity: key, certificates: chain.map(Array.init), persistence: .none)
    }
}
#endif
