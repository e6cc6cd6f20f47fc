// SPDX-License-Identifier: MIT

import Foundation

/// A TLS server that ends the handshake when the client shows no certificate of the authority, instead of answering.
///
/// It ends with its standard input, which is this process at the latest.
final class StrictServer: Sendable {
    let port: Int
    private let lifeline = Pipe()

    init(_ certificates: Certificates) throws {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: try Program.python())
        process.arguments = [
            "-c", Self.script, certificates.certificate(.valid), certificates.key, certificates.authority,
        ]
        process.standardInput = lifeline
        process.standardOutput = output
        try process.run()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let port = Int(line.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw Program.Failure(description: "The strict server did not start.")
        }
        self.port = port
    }

    var url: String { "https://localhost:\(port)/" }

    private static let script = """
        import socket, ssl, sys, threading
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[1], sys.argv[2])
        context.load_verify_locations(sys.argv[3])
        context.verify_mode = ssl.CERT_REQUIRED
        listener = socket.create_server(("127.0.0.1", 0))
        def serve():
            while True:
                client, _ = listener.accept()
                plain = client.dup()
                try:
                    with context.wrap_socket(client, server_side=True) as secure:
                        secure.recv(65536)
                        secure.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\nConnection: close\\r\\n\\r\\nok")
                except OSError:
                    # A socket that closes with bytes unread resets, and the alert would be lost.
                    plain.shutdown(socket.SHUT_WR)
                    while plain.recv(65536):
                        pass
                plain.close()
        threading.Thread(target=serve, daemon=True).start()
        print(listener.getsockname()[1], flush=True)
        sys.stdin.read()
        """
}
