// SPDX-License-Identifier: MIT

import Foundation

/// A TLS server that answers with the first line of the request. If it asks for certificates, it ends the handshake
/// when the client shows none of the authority.
///
/// It ends with this object, or with the process.
package final class PythonTLSServer: Sendable {
    package let port: Int
    private let process: CompanionProcess

    /// Returns when it listens.
    ///
    /// - `isOld`: it speaks TLS 1.2 and nothing newer.
    package static func start(
        _ certificates: Certificates, asksForCertificates: Bool, isOld: Bool = false
    ) async throws -> PythonTLSServer {
        try await onThread { try PythonTLSServer(certificates, asksForCertificates: asksForCertificates, isOld: isOld) }
    }

    private init(_ certificates: Certificates, asksForCertificates: Bool, isOld: Bool) throws {
        process = try CompanionProcess(
            Program.python(),
            [
                "-c", Self.script, certificates.certificate(.valid), certificates.key, certificates.authority,
                asksForCertificates ? "ask" : "", isOld ? "old" : "",
            ])
        let line = process.readLine()
        guard let port = Int(line) else {
            throw Program.Failure(description: "The TLS server did not start: \(line)")
        }
        self.port = port
    }

    package var url: String { "https://localhost:\(port)/" }

    private static let script = """
        import socket, ssl, sys, threading
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[1], sys.argv[2])
        context.load_verify_locations(sys.argv[3])
        if sys.argv[4]:
            context.verify_mode = ssl.CERT_REQUIRED
        if sys.argv[5]:
            context.maximum_version = ssl.TLSVersion.TLSv1_2
        listener = socket.create_server(("127.0.0.1", 0))
        def serve():
            while True:
                client, _ = listener.accept()
                plain = client.dup()
                try:
                    with context.wrap_socket(client, server_side=True) as secure:
                        line = secure.recv(65536).split(b"\\r\\n")[0]
                        secure.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: %d\\r\\n" % len(line))
                        secure.sendall(b"Connection: close\\r\\n\\r\\n" + line)
                except OSError:
                    # A socket that closes with bytes unread resets, and the alert would be lost.
                    try:
                        plain.shutdown(socket.SHUT_WR)
                        while plain.recv(65536):
                            pass
                    except OSError:
                        pass
                plain.close()
        threading.Thread(target=serve, daemon=True).start()
        print(listener.getsockname()[1], flush=True)
        sys.stdin.read()
        """
}
