// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl
import CurlewCore
#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// What the loaded libcurl is and can do, read once.
struct CurlLibrary: Sendable {
    /// `libcurl 7.88.1`
    let name: String
    /// As libcurl counts: 7.88.1 is 0x07_58_01.
    let version: UInt32
    /// The file with the system's certificate authorities; nil leaves the choice to libcurl.
    let systemRoots: String?
    let supportsHTTP2: Bool
    /// Versions that take a reused connection for one that has yet to be switched to HTTP/2, where no TLS negotiates it
    /// (curl#10634).
    let cannotReusePriorKnowledge: Bool
    /// Versions that lose bytes of a download when an upload of unknown length ends on the same HTTP/2 connection: they
    /// go on reading although an earlier piece still waits in their buffer, and overwrite the note of it. Without a
    /// declared length nobody would notice.
    let losesBytesBesideUploads: Bool
    /// Versions that keep bytes of a shared connection to themselves; see `ForgottenBytes`.
    let forgetsBytes: Bool
    /// Versions that put several requests on a connection in use although it speaks HTTP/1.1, once another one to that
    /// host has spoken HTTP/2 (curl#4885, mended by curl#12373). Callers then get each other's answers.
    let mixesVersions: Bool
    /// Versions that keep TLS sessions for each handle, unless handles share a store for them.
    let keepsSessionsByHandle: Bool
    /// libcurl has found `SSLKEYLOGFILE`, which it reads once, when it is initialised. Taking the variable away before
    /// would not be safe beside other threads that read the environment.
    let mayLogKeys: Bool
    /// Why this libcurl cannot be used unless `TLSConfiguration.obeysKeyLogFile` is set; nil when it can.
    let keyLogProblem: String?
    /// libcurl lets others see the settings of its TLS library for each connection.
    let showsSecureContexts: Bool
    /// Why pins cannot be compared with the verified path of a server; nil when they can. Errors then do not show
    /// certificates either.
    let pathProblem: String?
    /// Why this libcurl cannot be used; nil when it can.
    let problem: String?

    /// The oldest version on which the tests run. Older ones lack options that the engine relies on: `QUICK_EXIT` came
    /// with 7.87.0, and headers without it do not compile.
    static let minimum = (number: UInt32(0x07_58_00), text: "7.88.0")

    /// Initialises libcurl on first use. It is never torn down: other code in the process may use it.
    static let current = CurlLibrary()

    private init() {
        curlew_keep_openssl_until_exit()
        mayLogKeys = getenv("SSLKEYLOGFILE").map { $0.pointee != 0 } ?? false
        let initialised = curl_global_init(Int(CURL_GLOBAL_DEFAULT))
        let findsOpenSSL = curlew_find_openssl(judgeCertificates, noteCertificateRequest, releaseServerCheck) != 0
        guard initialised == CURLE_OK, let info = curlew_version() else {
            name = "libcurl"
            version = 0
            systemRoots = nil
            supportsHTTP2 = false
            cannotReusePriorKnowledge = false
            losesBytesBesideUploads = false
            forgetsBytes = false
            mixesVersions = false
            keepsSessionsByHandle = false
            keyLogProblem = nil
            showsSecureContexts = false
            pathProblem = nil
            problem = "libcurl could not be initialised (error \(initialised.rawValue))."
            return
        }
        let text = info.pointee.version.map { String(cString: $0) } ?? "of unknown version"
        name = "libcurl \(text)"
        version = info.pointee.version_num
        supportsHTTP2 = info.pointee.features & CURL_VERSION_HTTP2 != 0
        cannotReusePriorKnowledge = (0x07_57_00..<0x08_00_00).contains(info.pointee.version_num)
        losesBytesBesideUploads = info.pointee.version_num < 0x08_01_00
        forgetsBytes = losesBytesBesideUploads
        mixesVersions = info.pointee.version_num < 0x08_06_00
        keepsSessionsByHandle = info.pointee.version_num < 0x08_0C_00
        systemRoots = Self.findRoots(
            file: info.pointee.cainfo.map { String(cString: $0) },
            folder: info.pointee.capath.map { String(cString: $0) })
        showsSecureContexts = Self.hasSecureContextCallback()
        keyLogProblem =
            !mayLogKeys || (curlew_can_remove_key_log() != 0 && showsSecureContexts)
            ? nil
            : "SSLKEYLOGFILE is set, and this libcurl cannot be kept from writing the secrets of connections there. "
                + "Take the variable away, or set TLSConfiguration.obeysKeyLogFile."
        let secureLayer = info.pointee.ssl_version.map { String(cString: $0) } ?? "no TLS"
        pathProblem =
            findsOpenSSL && showsSecureContexts
            ? nil
            : "PinSet.Scope.verifiedChain needs a libcurl that uses the system's OpenSSL; this one uses \(secureLayer). "
                + "Install libcurl4-openssl-dev, or pin the server's own key."
        problem = Self.problem(ofVersion: info.pointee.version_num, named: text)
    }

    /// Why the engine refuses a version; nil when it does not.
    static func problem(ofVersion version: UInt32, named text: String) -> String? {
        guard version < minimum.number else { return nil }
        return "libcurl \(text) is too old: \(minimum.text) or newer is needed. Update the system's libcurl."
    }

    /// Why this libcurl cannot be used with a configuration; nil when it can.
    func problem(with tls: TLSConfiguration) -> String? {
        if let problem { return problem }
        if !tls.obeysKeyLogFile, let keyLogProblem { return keyLogProblem }
        return tls.pins.contains { $0.scope == .verifiedChain } ? pathProblem : nil
    }

    /// Where systems keep the certificate authorities that they trust: Debian, Fedora, SUSE, Alpine.
    private static let rootFiles = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
        "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem",
    ]

    /// The file that libcurl was built with, if it is there. Many builds come from another system than the one that they
    /// run on; with nothing of what they were built with, it is the file of this system. Nil when libcurl has a folder.
    static func findRoots(
        file: String?, folder: String?, systemFiles: [String] = rootFiles
    ) -> String? {
        if let file, access(file, R_OK) == 0 { return file }
        if let folder, access(folder, R_OK) == 0 { return nil }
        return systemFiles.first { access($0, R_OK) == 0 }
    }

    private static func hasSecureContextCallback() -> Bool {
        guard let handle = curl_easy_init() else { return false }
        defer { curl_easy_cleanup(handle) }
        return curlew_set_secure_context_callback(handle, prepareSecureContext, nil) == CURLE_OK
    }
}
#endif
