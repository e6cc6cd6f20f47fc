// SPDX-License-Identifier: MIT

import CurlewFoundation

#if os(Linux)
import CCurl
import CurlewCore

/// The version and features of the loaded libcurl, read once.
struct CurlLibrary: Sendable {
    /// The name and version, such as `libcurl 7.88.1`.
    let name: String
    /// The version in libcurl's format: 7.88.1 is 0x07_58_01.
    let version: UInt32
    /// The file with the system's certificate authorities; nil lets libcurl choose.
    let systemRoots: String?
    let supportsHTTP2: Bool
    /// Whether this version cannot reuse a connection with HTTP/2 prior knowledge: it acts as if the connection still
    /// had to switch to HTTP/2, unless TLS negotiated the version (curl#10634).
    var cannotReusePriorKnowledge: Bool { version < 0x08_00_00 }
    /// Whether this version loses bytes of a download when an upload of unknown length ends on the same HTTP/2
    /// connection: it continues to read although earlier bytes are still buffered, and overwrites its record of them.
    /// If the download has no declared length, the loss would go undetected.
    var losesBytesBesideUploads: Bool { version < 0x08_01_00 }
    /// Whether this version may leave bytes of a shared connection undelivered; see `ForgottenBytes`.
    var forgetsBytes: Bool { version < 0x08_01_00 }
    /// Whether this version may send several requests at the same time on one HTTP/1.1 connection; see `MixedVersions`.
    var mixesVersions: Bool { version < 0x08_06_00 }
    /// Whether a handle of this version keeps a pointer to the last field of its previous response, whose memory is
    /// free (seen with 7.88.1). A response whose first field line begins with a blank continues that field: the server
    /// damages the memory of the process. So with these versions each transfer has a handle of its own.
    var keepsFreedFields: Bool { version < 0x08_00_00 }
    /// Whether this version keeps TLS sessions per handle, unless handles share a `SessionStore`.
    var keepsSessionsByHandle: Bool { version < 0x08_0C_00 }
    /// Whether `SSLKEYLOGFILE` was set when libcurl was initialized. libcurl reads the variable only then. Unsetting it
    /// before the initialization would be unsafe while other threads read the environment.
    let mayLogKeys: Bool
    /// Why this libcurl cannot be used unless `TransportConfiguration.TLS.obeysKeyLogFile` is set; nil if it can.
    let keyLogProblem: String?
    /// Whether libcurl gives access to the TLS settings of each connection.
    let showsSecureContexts: Bool
    /// Why pins cannot be compared with a server's verified certificate path; nil if they can. If not nil, errors
    /// contain no certificates.
    let pathProblem: String?
    /// The reason why this libcurl cannot be used; nil if it can.
    let problem: String?

    /// The oldest version that is supported and tested. Older versions lack options that the transport relies on:
    /// `QUICK_EXIT` was added in 7.87.0, and headers without it do not compile.
    static let minimum = (number: UInt32(0x07_58_00), text: "7.88.0")

    /// The loaded libcurl, which is initialized on first use. It is never cleaned up, because other code in the process
    /// may use it.
    static let current = CurlLibrary()

    private init() {
        curlew_keep_openssl_until_exit()
        mayLogKeys = getenv("SSLKEYLOGFILE").map { $0.pointee != 0 } ?? false
        let initialised = curl_global_init(Int(CURL_GLOBAL_DEFAULT))
        let findsOpenSSL = curlew_find_openssl(verifyCertificates, noteCertificateRequest, releaseServerCheck) != 0
        let info = initialised == CURLE_OK ? curlew_version()?.pointee : nil
        let text = info?.version.map { String(cString: $0) } ?? "of unknown version"
        name = "libcurl \(text)"
        version = info?.version_num ?? 0
        supportsHTTP2 = (info?.features ?? 0) & CURL_VERSION_HTTP2 != 0
        systemRoots = Self.findRoots(
            file: info?.cainfo.map { String(cString: $0) }, folder: info?.capath.map { String(cString: $0) })
        showsSecureContexts = Self.hasSecureContextCallback()
        keyLogProblem =
            !mayLogKeys || (curlew_can_remove_key_log() != 0 && showsSecureContexts)
            ? nil
            : "SSLKEYLOGFILE is set, and this libcurl always writes the secrets of connections to that file. "
                + "Unset the variable, or set TransportConfiguration.TLS.obeysKeyLogFile."
        let secureLayer = info?.ssl_version.map { String(cString: $0) } ?? "no TLS"
        pathProblem =
            findsOpenSSL && showsSecureContexts
            ? nil
            : "TransportConfiguration.TLS.PinSet.Scope.verifiedChain needs a libcurl that uses the system's OpenSSL; this one has \(secureLayer). "
                + "Install libcurl4-openssl-dev, or pin the server's own key."
        problem =
            info == nil
            ? "libcurl could not be initialised (error \(initialised.rawValue))."
            : Self.problem(ofVersion: version, named: text)
    }

    /// Returns why a version is refused, or nil if it is supported.
    static func problem(ofVersion version: UInt32, named text: String) -> String? {
        guard version < minimum.number else { return nil }
        return "libcurl \(text) is too old: \(minimum.text) or newer is needed. Update the system's libcurl."
    }

    /// Returns why this libcurl cannot be used with a configuration, or nil if it can.
    func problem(with tls: TransportConfiguration.TLS) -> String? {
        if let problem { return problem }
        if !tls.obeysKeyLogFile, let keyLogProblem { return keyLogProblem }
        return tls.pins.contains { $0.scope == .verifiedChain } ? pathProblem : nil
    }

    /// The default files with certificate authorities on Debian, Fedora, SUSE and Alpine.
    private static let rootFiles = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
        "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem",
    ]

    /// Returns libcurl's built-in CA file if it is readable, nil if its CA folder is, else the first readable one of
    /// `systemFiles`.
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
        return curlew_set_secure_context_callback(handle, CURLOPT_SSL_CTX_FUNCTION, prepareSecureContext) == CURLE_OK
    }
}
#endif
