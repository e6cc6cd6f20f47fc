// SPDX-License-Identifier: MIT

package import CurlewCore
import CurlewTesting
import Foundation

/// A real nginx on loopback: plain, and TLS with HTTP/2 under several certificates. One for all tests of the process.
///
/// A shell holds it: when the test process ends, in whatever way, the shell's input ends, and it ends nginx and removes
/// the folder.
package final class Nginx: Sendable {
    package let certificates: Certificates
    /// Holds `body.bin`, `text.txt`, and what is uploaded to `/upload/`.
    package let root: String
    private let ports: [String: Int]
    private let shell: CompanionProcess

    /// Only our own authority is trusted.
    package var configuration: TransportConfiguration {
        TransportConfiguration(tls: TransportConfiguration.TLS(trustedRoots: .file(certificates.authority)))
    }

    package var plain: String { "http://127.0.0.1:\(ports["plain", default: 0])" }
    /// HTTP/2 without TLS.
    package var plain2: String { "http://127.0.0.1:\(ports["plain2", default: 0])" }

    package func secure(_ kind: Certificates.Kind = .valid, host: String = "localhost") -> String {
        "https://\(host):\(ports[kind.rawValue, default: 0])"
    }

    /// HTTP/1.1 over TLS.
    package var serial: String { "https://localhost:\(ports["serial", default: 0])" }

    /// The same with TLS 1.3.
    package var modern: String { "https://localhost:\(ports["modern", default: 0])" }

    /// Asks for a client's certificate of our authority; without one it answers 400. Says whom it sees.
    package var mutual: String { "https://localhost:\(ports["mutual", default: 0])" }

    /// The plain server's Unix domain socket.
    package var socket: String { certificates.folder + "/socket" }

    private static let starting = Locked<Task<Nginx, any Error>?>(nil)

    /// Starts it once. Throws what is missing.
    package static func shared() async throws -> Nginx {
        let task = starting.withLock { task in
            let started = task ?? Task { try await onThread { try Nginx() } }
            task = started
            return started
        }
        return try await task.value
    }

    private init() throws {
        let folder = FileManager.default.temporaryDirectory.path + "/" + Self.folderName()
        root = folder + "/root"
        try FileManager.default.createDirectory(atPath: root + "/upload", withIntermediateDirectories: true)
        certificates = try Certificates(in: folder)
        try MockResponse.pattern(0..<3_000_000).write(to: URL(fileURLWithPath: root + "/body.bin"))
        try Data(String(repeating: "text to compress, ", count: 10_000).utf8)
            .write(to: URL(fileURLWithPath: root + "/text.txt"))
        // Another process may take a free port before nginx has it: then others are tried.
        var failure: any Error = Program.Failure(description: "nginx was not started")
        for _ in 0..<5 {
            let ports = try Self.freePorts(
                for: ["plain", "plain2", "mutual", "serial", "modern"] + Certificates.Kind.allCases.map(\.rawValue))
            try Self.write(ports, certificates, root: root, to: folder)
            do {
                shell = try Self.start(in: folder)
                self.ports = ports
                return
            } catch {
                failure = error
            }
        }
        throw failure
    }

    /// Short, because the path of a socket has 104 bytes on a Mac, and folders of temporary files are deep there.
    package static func folderName() -> String {
        "curlew-nginx-" + UUID().uuidString.prefix(13)
    }

    /// Returns when nginx listens: it goes into the background only then. Newer ones say first what they think of
    /// configurations that older ones need.
    private static func start(in folder: String) throws -> CompanionProcess {
        let nginx = try Program.path("nginx")
        let script = """
            '\(nginx)' -p '\(folder)' -c '\(folder)/nginx.conf' -e '\(folder)/error.log' 2> '\(folder)/said' || {
              cat '\(folder)/said'
              exit 1
            }
            echo started
            cat > '\(folder)/held'
            until [ -s '\(folder)/pid' ]; do :; done
            kill "$(cat '\(folder)/pid')"
            rm -rf '\(folder)'
            """
        let shell = try CompanionProcess("/bin/sh", ["-c", script])
        let line = shell.readLine()
        guard line == "started" else { throw Program.Failure(description: "nginx did not start: \(line)") }
        return shell
    }

    private static func freePorts(for names: [String]) throws -> [String: Int] {
        var sockets: [Int32] = []
        defer { sockets.forEach { close($0) } }
        return try names.reduce(into: [:]) { ports, name in
            let (socket, port) = try LoopbackPort.refusing()
            sockets.append(socket)
            ports[name] = port
        }
    }

    private static func write(_ ports: [String: Int], _ certificates: Certificates, root: String, to folder: String)
        throws
    {
        let locations = """
            root \(root);
            location = /connection { return 200 "$connection $server_protocol $http_x_value"; }
            location = /peer { return 200 "$remote_addr:$remote_port $ssl_session_reused"; }
            location = /close { keepalive_timeout 0; return 200 "$ssl_session_reused"; }
            location = /host { return 200 "$http_host"; }
            location = /empty { return 204; }
            location = /credential { return 200 "$http_authorization"; }
            location = /bounce { return 302 $arg_to; }
            location /upload/ { dav_methods PUT; client_max_body_size 100m; }
            """
        let secure = Certificates.Kind.allCases.map { kind in
            """
            server {
              listen 127.0.0.1:\(ports[kind.rawValue, default: 0]) ssl http2; server_name _;
              ssl_certificate \(certificates.certificate(kind)); ssl_certificate_key \(certificates.key);
              \(locations)
            }
            """
        }
        // The library at the client takes no tickets for TLS 1.2, so sessions need a place at the server.
        let serial = [("serial", "TLSv1.2"), ("modern", "TLSv1.3")].map { name, version in
            """
            server {
              listen 127.0.0.1:\(ports[name, default: 0]) ssl; server_name _;
              ssl_certificate \(certificates.certificate(.valid)); ssl_certificate_key \(certificates.key);
              ssl_protocols \(version); ssl_session_cache shared:\(name):1m;
              \(locations)
            }
            """
        }
        let mutual = """
            server {
              listen 127.0.0.1:\(ports["mutual", default: 0]) ssl http2; server_name _;
              ssl_certificate \(certificates.certificate(.valid)); ssl_certificate_key \(certificates.key);
              ssl_client_certificate \(certificates.authority); ssl_verify_client on;
              location / { return 200 "$ssl_client_verify $ssl_client_s_dn"; }
            }
            """
        let text = """
            worker_processes 1; daemon on; pid \(folder)/pid; error_log \(folder)/error.log; \(userLine)
            events { worker_connections 2048; }
            http {
              access_log off; gzip on; gzip_types text/plain; gzip_min_length 100; keepalive_requests 100000;
              types { text/plain txt; } default_type application/octet-stream;
              client_body_temp_path \(folder)/temporary; proxy_temp_path \(folder)/temporary;
              fastcgi_temp_path \(folder)/temporary; uwsgi_temp_path \(folder)/temporary;
              scgi_temp_path \(folder)/temporary;
              server { listen 127.0.0.1:\(ports["plain", default: 0]); listen unix:\(folder)/socket; server_name _; \(locations) }
              server { listen 127.0.0.1:\(ports["plain2", default: 0]) http2; server_name _; \(locations) }
              \(secure.joined(separator: "\n"))
              \(serial.joined(separator: "\n"))
              \(mutual)
            }
            """
        try Data(text.utf8).write(to: URL(fileURLWithPath: folder + "/nginx.conf"))
    }

    /// Started as root, its workers would be a user who must not write into our folder.
    private static var userLine: String { getuid() == 0 ? "user root;" : "" }
}
