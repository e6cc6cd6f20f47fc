// SPDX-License-Identifier: MIT

/// A TLS server that presents any chain of certificates. It answers each request over a connection of its own, with the
/// version of TLS and whether the handshake resumed a session: `TLSv1.3 resumed`, `TLSv1.2 full`.
///
/// It ends with this object, or with the process.
package final class ChainServer: Sendable {
    package let port: Int
    private let process: CompanionProcess

    /// Returns when it listens. `chain` is a file of certificates, the server's own first. Without a version it speaks
    /// all that the system has.
    package static func start(chain: String, key: String, version: String = "") async throws -> ChainServer {
        try await onThread { try ChainServer(chain, key, version) }
    }

    private init(_ chain: String, _ key: String, _ version: String) throws {
        process = try CompanionProcess(Program.python(), ["-c", Self.script, chain, key, version])
        let line = process.readLine()
        guard let port = Int(line) else {
            throw Program.Failure(description: "The TLS server did not start: \(line)")
        }
        self.port = port
    }

    package func url(host: String = "localhost") -> String { "https://\(host):\(port)/" }

    private static let script = """
        import socket, ssl, sys, threading
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[1], sys.argv[2])
        if sys.argv[3]:
            context.minimum_version = context.maximum_version = getattr(ssl.TLSVersion, sys.argv[3])
        listener = socket.create_server(("127.0.0.1", 0), backlog=100)
        def answer(client):
            try:
                with context.wrap_socket(client, server_side=True) as secure:
                    secure.recv(65536)
                    text = secure.version() + (" resumed" if secure.session_reused else " full")
                    head = "HTTP/1.1 200 OK\\r\\nConnection: close\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(text)
                    secure.sendall((head + text).encode())
                    # Who sees a connection end without a word does not resume its session.
                    secure.unwrap()
            except OSError:
                client.close()
        def serve():
            while True:
                client, _ = listener.accept()
                threading.Thread(target=answer, args=(client,), daemon=True).start()
        threading.Thread(target=serve, daemon=True).start()
        print(listener.getsockname()[1], flush=True)
        sys.stdin.read()
        """
}
