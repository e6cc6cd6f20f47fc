// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCurl

/// Mutual TLS: as whom the client shows itself.
@Suite(.timeLimit(.minutes(1)))
struct ClientIdentityTests {
    enum Form: String, CaseIterable {
        case files, data, lockedFiles, lockedData, archiveFile, archiveData

        func identity(_ certificates: Certificates, passphrase: String = Certificates.passphrase, hosts: [String] = [])
            throws -> TransportConfiguration.TLS.ClientIdentity
        {
            func data(_ ending: String) throws -> Data {
                try Data(contentsOf: URL(fileURLWithPath: certificates.client + ending))
            }
            let client = certificates.client
            return switch self {
            case .files: .pemFiles(certificate: client + ".pem", key: client + ".key", hosts: hosts)
            case .data: .pem(certificate: try data(".pem"), key: try data(".key"), hosts: hosts)
            case .lockedFiles:
                .pemFiles(
                    certificate: client + ".pem", key: client + "-locked.key", passphrase: passphrase, hosts: hosts)
            case .lockedData:
                .pem(
                    certificate: try data(".pem"), key: try data("-locked.key"), passphrase: passphrase, hosts: hosts)
            case .archiveFile: .pkcs12File(client + ".p12", passphrase: passphrase, hosts: hosts)
            case .archiveData: .pkcs12(try data(".p12"), passphrase: passphrase, hosts: hosts)
            }
        }
    }

    private func transport(_ nginx: Nginx, _ identity: TransportConfiguration.TLS.ClientIdentity?) -> CurlTransport {
        var configuration = nginx.configuration
        configuration.tls.identity = identity
        return CurlTransport(configuration: configuration)
    }

    @Test("A server that asks for a certificate sees the client's, in each form", arguments: Form.allCases)
    func accepted(form: Form) async throws {
        let nginx = try await Nginx.shared()
        let transport = transport(nginx, try form.identity(nginx.certificates))
        let response = try await transport.exchange(.get, nginx.mutual + "/")
        #expect(try await response.text() == "SUCCESS CN=client")
        #expect(try await transport.exchange(.get, nginx.secure() + "/empty").status == .noContent)
    }

    @Test(
        "A handshake that ends for want of a certificate is distinguished, and not retried",
        // Only OpenSSL reports what TLS 1.2 leaves out.
        arguments: CurlLibrary.current.pathProblem == nil ? [false, true] : [false])
    func required(isOld: Bool) async throws {
        let nginx = try await Nginx.shared()
        let server = try await PythonTLSServer.start(nginx.certificates, asksForCertificates: true, isOld: isOld)
        let error = try #require(await transport(nginx, nil).failure(.get, server.url))
        #expect(error.reason == .secureConnectionFailed(.clientCertificate))
        if isOld { #expect(error.hint?.contains("TransportConfiguration.TLS.identity") == true) }
        #expect(!error.isRetryable)
        expectTexts(error)
        let identity = try Form.data.identity(nginx.certificates)
        #expect(try await transport(nginx, identity).exchange(.get, server.url).text() == "GET / HTTP/1.1")
    }

    @Test("Only named hosts get the certificate", arguments: ["localhost", "127.0.0.1"])
    func hosts(host: String) async throws {
        let nginx = try await Nginx.shared()
        let transport = transport(nginx, try Form.data.identity(nginx.certificates, hosts: ["localhost"]))
        for _ in 0..<2 {
            for name in ["localhost", host] {
                let url = nginx.mutual.replacingOccurrences(of: "localhost", with: name)
                let response = try await transport.exchange(.get, url + "/")
                #expect(response.status == (name == "localhost" ? .ok : .badRequest), "\(name)")
            }
        }
    }

    @Test(
        "An identity that cannot be used is a configuration error",
        arguments: [Form.lockedFiles, .lockedData, .archiveFile, .archiveData])
    func wrongPassphrase(form: Form) async throws {
        let nginx = try await Nginx.shared()
        let transport = transport(nginx, try form.identity(nginx.certificates, passphrase: "wrong"))
        let error = try #require(await transport.failure(.get, nginx.mutual + "/"))
        #expect(error.reason == .configuration)
        #expect(error.hint?.contains("TransportConfiguration.TLS.identity") == true)
        #expect(!"\(error)".contains("wrong"))
        expectTexts(error)
    }

    @Test("A missing file and a key that does not match are configuration errors", arguments: ["missing", "other"])
    func unusable(kind: String) async throws {
        let nginx = try await Nginx.shared()
        let client = nginx.certificates.client
        let key = kind == "missing" ? client + ".none" : nginx.certificates.key
        let identity = TransportConfiguration.TLS.ClientIdentity.pemFiles(certificate: client + ".pem", key: key)
        let error = try #require(await transport(nginx, identity).failure(.get, nginx.mutual + "/"))
        #expect(error.reason == .configuration)
        expectTexts(error)
    }
}
