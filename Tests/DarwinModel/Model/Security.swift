// SPDX-License-Identifier: MIT
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CurlewCore
import Foundation
import TestServers

// The part of the Security framework that AppleTrust uses. `openssl` judges certificates.

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

    let host: String
    let presented: [SecCertificate]
    let state: Locked<State>

    init(_ host: String, _ presented: [SecCertificate]) {
        (self.host, self.presented) = (host, presented)
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
                return Unchecked(certificates.isEmpty ? nil : SecTrust(name, certificates))
            }
        } onCancel: {
            process.kill()
        }
    }

    fileprivate func evaluated() -> CFError? {
        func problem(_ code: OSStatus, _ text: String) -> CFError {
            NSError(domain: NSOSStatusErrorDomain, code: Int(code), userInfo: [NSLocalizedDescriptionKey: text])
        }
        let anchors = state.withLock { $0.anchors }
        do {
            let folder = try TemporaryFolder()
            let isAddress = host.allSatisfy { $0.isHexDigit || $0 == "." || $0 == ":" }
            var arguments = ["verify", isAddress ? "-verify_ip" : "-verify_hostname", host, "-purpose", "sslserver"]
            if !anchors.isEmpty {
                let file = try folder.file("anchors.pem", Data(anchors.map(\.pem).joined().utf8))
                arguments += ["-no-CApath", "-CAfile", file]
            }
            let pem = Data(presented.dropFirst().map(\.pem).joined().utf8)
            if !pem.isEmpty { arguments += ["-untrusted", try folder.file("between.pem", pem)] }
            arguments.append(try folder.file("leaf.pem", Data((presented.first?.pem ?? "").utf8)))
            try Program.run(Program.path("openssl"), arguments)
        } catch {
            let text = "\(error)"
            if text.contains("error 10 ") { return problem(errSecCertificateExpired, "The certificate has expired.") }
            if text.contains("error 9 ") { return problem(errSecCertificateNotValidYet, "It is not yet valid.") }
            if text.contains("error 62 ") || text.contains("error 64 ") {
                return problem(errSecHostNameMismatch, "The certificate is for another host.")
            }
            return problem(errSecNotTrusted, "The certificate is not trusted.")
        }
        // The path ends at the authority that signed its last certificate.
        let issuer = presented.last.flatMap { ExchangeMetrics.Connection.PeerCertificate($0.der)?.issuer }
        let root = anchors.first { ExchangeMetrics.Connection.PeerCertificate($0.der)?.subject == issuer }
        state.withLock { $0.chain = presented + (root.map { [$0] } ?? []) }
        return nil
    }

    private static let queue = DispatchQueue(label: "curlew.darwin-model.trust", attributes: .concurrent)

    fileprivate func evaluate(on queue: DispatchQueue, _ done: @escaping @Sendable (SecTrust, Bool, CFError?) -> Void) {
        let trust = Unchecked(self)
        Self.queue.async {
            let problem = Unchecked(trust.value.evaluated())
            queue.async { done(trust.value, problem.value == nil, problem.value) }
        }
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
    trust.evaluate(on: queue, done)
    return errSecSuccess
}

extension URLError {
    var failureURLPeerTrust: SecTrust? { userInfo["trust"] as? SecTrust }
}
