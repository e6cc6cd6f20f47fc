// SPDX-License-Identifier: MIT
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CurlewCurl
import Foundation
import TestServers

@testable import CurlewCore

// The part of the Security framework that AppleTrust uses. `openssl` gets certificates, and `CurlTransport` judges them.

typealias CFTypeRef = AnyObject
typealias CFData = Data
typealias CFArray = [Any]
typealias CFDictionary = [String: Any]
typealias CFError = NSError
typealias OSStatus = Int32

let errSecSuccess: OSStatus = 0
let errSecNotTrusted: OSStatus = -67_843
let errSecCertificateExpired: OSStatus = -67_818
let errSecCertificateNotValidYet: OSStatus = -67_819
let errSecHostNameMismatch: OSStatus = -67_602
let kSecImportExportPassphrase = "passphrase"
let kSecImportItemIdentity = "identity"
let kSecImportItemCertChain = "chain"
let kSecImportToMemoryOnly = "memory"

func CFErrorGetCode(_ error: CFError) -> Int { error.code }
func CFErrorCopyDescription(_ error: CFError) -> String { error.localizedDescription }
func CFGetTypeID(_ value: CFTypeRef) -> ObjectIdentifier { ObjectIdentifier(type(of: value)) }
func SecIdentityGetTypeID() -> ObjectIdentifier { ObjectIdentifier(SecIdentity.self) }

final class SecCertificate: Sendable {
    let der: Data
    init(_ der: Data) { self.der = der }

    var pem: String {
        "-----BEGIN CERTIFICATE-----\n\(der.base64EncodedString(options: .lineLength64Characters))\n"
            + "-----END CERTIFICATE-----\n"
    }
}

func SecCertificateCreateWithData(_: Any?, _ data: CFData) -> SecCertificate? {
    ExchangeMetrics.Connection.PeerCertificate(data).map { _ in SecCertificate(data) }
}

func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData { certificate.der }

/// A private key with its certificate, as an archive that `CurlTransport` reads.
final class SecIdentity: Hashable, Sendable {
    let archive: Data
    let passphrase: String

    init(_ archive: Data, _ passphrase: String) { (self.archive, self.passphrase) = (archive, passphrase) }

    static func == (one: SecIdentity, other: SecIdentity) -> Bool { one === other }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// How often an archive was imported, and how often into the user's keychain: without `kSecImportToMemoryOnly`, macOS
/// does that (SecImportExport.h).
enum DarwinKeychain {
    struct Imports: Equatable, Sendable { var all = 0, stored = 0, onDelegateQueue = 0 }
    static let imports = Locked<[Data: Imports]>([:])
}

func SecPKCS12Import(_ archive: CFData, _ options: CFDictionary, _ items: inout CFArray?) -> OSStatus {
    DarwinKeychain.imports.withLock { imports in
        imports[archive, default: DarwinKeychain.Imports()].all += 1
        if OperationQueue.current != nil { imports[archive]?.onDelegateQueue += 1 }
        if options[kSecImportToMemoryOnly] as? Bool != true { imports[archive]?.stored += 1 }
    }
    let identity = SecIdentity(archive, options[kSecImportExportPassphrase] as? String ?? "")
    items = [[kSecImportItemIdentity: identity, kSecImportItemCertChain: [SecCertificate]()] as [String: Any]]
    return errSecSuccess
}

/// The certificates of a server, and what they are compared with.
final class SecTrust {
    struct State {
        var anchors: [SecCertificate] = []
        var chain: [SecCertificate]
    }

    let url: String
    let state: Locked<State>

    init(_ url: String, _ presented: [SecCertificate]) {
        self.url = url
        state = Locked(State(chain: presented))
    }

    /// The authorities of the delegate; nil for those of the system.
    var anchors: Data? {
        let anchors = state.withLock { $0.anchors }
        return anchors.isEmpty ? nil : Data(anchors.map(\.pem).joined().utf8)
    }

    /// The certificates that a server presents; nil if there is no handshake.
    static func presented(by host: String, _ port: Int) async throws -> Unchecked<SecTrust?> {
        let name = host.trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        let process = try CompanionProcess(
            Program.path("openssl"),
            ["s_client", "-connect", "\(host):\(port)", "-servername", name, "-showcerts", "-alpn", "h2,http/1.1"])
        return try await withTaskCancellationHandler {
            try await onThread {
                process.write(Data())
                let certificates = PEMText.certificates(in: process.readToEnd()).map(SecCertificate.init)
                _ = process.finish()
                return Unchecked(certificates.isEmpty ? nil : SecTrust("https://\(host):\(port)", certificates))
            }
        } onCancel: {
            process.kill()
        }
    }

    /// Why `CurlTransport` does not trust the certificate; nil if it does.
    fileprivate func problem() async -> CFError? {
        let tls = TransportConfiguration.TLS(trustedRoots: anchors.map { .pem($0) } ?? .system)
        let transport = CurlTransport(configuration: TransportConfiguration(tls: tls))
        do { try await transport.warmUp(url) } catch {
            let code: OSStatus? =
                switch (error as? NetworkError)?.reason {
                case .secureConnectionFailed(.expired): errSecCertificateExpired
                case .secureConnectionFailed(.notYetValid): errSecCertificateNotValidYet
                case .secureConnectionFailed(.wrongHost): errSecHostNameMismatch
                case .secureConnectionFailed(.untrusted): errSecNotTrusted
                default: nil
                }
            let info = [NSLocalizedDescriptionKey: "The certificate is not trusted."]
            if let code { return NSError(domain: NSOSStatusErrorDomain, code: Int(code), userInfo: info) }
        }
        // The path ends at the authority that signed its last certificate.
        state.withLock { state in
            let issuer = state.chain.last.flatMap { ExchangeMetrics.Connection.PeerCertificate($0.der)?.issuer }
            state.chain += state.anchors.filter {
                ExchangeMetrics.Connection.PeerCertificate($0.der)?.subject == issuer
            }
        }
        return nil
    }
}

func SecTrustSetAnchorCertificates(_ trust: SecTrust, _ anchors: CFArray) -> OSStatus {
    trust.state.withLock { $0.anchors = anchors.compactMap { $0 as? SecCertificate } }
    return errSecSuccess
}

func SecTrustSetAnchorCertificatesOnly(_: SecTrust, _: Bool) -> OSStatus { errSecSuccess }

func SecTrustCopyCertificateChain(_ trust: SecTrust) -> CFArray? { trust.state.withLock { $0.chain } }

func SecTrustEvaluateAsyncWithError(
    _ trust: SecTrust, _ queue: DispatchQueue, _ done: @escaping @Sendable (SecTrust, Bool, CFError?) -> Void
) -> OSStatus {
    let trust = Unchecked(trust)
    Task {
        let problem = Unchecked(await trust.value.problem())
        queue.async { done(trust.value, problem.value == nil, problem.value) }
    }
    return errSecSuccess
}

extension URLError {
    var failureURLPeerTrust: SecTrust? { userInfo["trust"] as? SecTrust }
}
