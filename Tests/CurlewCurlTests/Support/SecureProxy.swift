// SPDX-License-Identifier: MIT

/// An HTTP proxy behind TLS that tunnels CONNECT to this machine, whatever the host is called.
///
/// It ends with this object, or with the process.
final class SecureProxy: Sendable {
    let port: Int
    private let process: CompanionProcess

    /// Blocks until it listens.
    convenience init(_ certificates: Certificates) throws {
        try self.init(certificate: certificates.certificate(.valid), key: certificates.key)
    }

    /// Blocks until it listens.
    init(certificate: String, key: String) throws {
        process = try CompanionProcess(Program.python(), ["-c", Self.script, certificate, key])
        let line = process.readLine()
        guard let port = Int(line) else { throw Program.Failure(description: "The proxy did not start: \(line)") }
        self.port = port
    }

    private static let script = """
        import os, select, socket, ssl, sys, threading
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[1], sys.argv[2])
        def relay(client):
            head = b""
            while not head.endswith(b"\\r\\n\\r\\n"):
                head += client.recv(1)
            method, target = head.split(b" ")[:2]
            assert method == b"CONNECT"
            server = socket.create_connection(("127.0.0.1", int(target.rsplit(b":")[1])))
            client.sendall(b"HTTP/1.1 200 Connected\\r\\n\\r\\n")
            while True:
                ready = [client] if client.pending() else select.select([client, server], [], [])[0]
                for source, target in ((client, server), (server, client)):
                    if source in ready:
                        data = source.recv(65536)
                        if not data:
                            return
                        target.sendall(data)
        def serve(peer):
            with context.wrap_socket(peer, server_side=True) as client:
                relay(client)
        def accept():
            while True:
                threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
        listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=accept, daemon=True).start()
        print(listener.getsockname()[1], flush=True)
        sys.stdin.read()
        os._exit(0)
        """
}
