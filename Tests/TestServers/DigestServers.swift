// SPDX-License-Identifier: MIT

import Foundation

/// Servers that ask for digest authentication: user `ada`, password `p:w`, realm `tests`.
///
/// Each ends with its object, or with the process.
package final class DigestServer: Sendable {
    package let url: String
    package var port: Int { url.split(separator: ":").last.flatMap { Int($0) } ?? 0 }
    private let folder: String
    private let process: CompanionProcess

    /// Apache httpd with mod_auth_digest, which knows MD5.
    package static func apache() async throws -> DigestServer {
        try await onThread {
            var failure: any Error = Program.Failure(description: "Apache was not started")
            // Another process may take a free port before Apache has it: then others are tried.
            for _ in 0..<5 {
                do { return try DigestServer(apacheOn: freePort()) } catch { failure = error }
            }
            throw failure
        }
    }

    /// Apache httpd as a proxy that asks for Digest, and tunnels to any port of this machine. What it is asked, with
    /// the credentials, is used `requests`.
    package static func proxy() async throws -> DigestServer {
        try await onThread {
            var failure: any Error = Program.Failure(description: "Apache was not started")
            for _ in 0..<5 {
                do { return try DigestServer(apacheOn: freePort(), isProxy: true) } catch { failure = error }
            }
            throw failure
        }
    }

    /// First line and `Proxy-Authorization` of each request that the proxy got, `-` for none.
    package var requests: [String] {
        let text = (try? String(contentsOfFile: folder + "/requests", encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map(String.init)
    }

    /// A server of Python's, which asks for SHA-256, takes each nonce three times, and calls it stale then. It wants
    /// the hash of the user in place of the name, and says so in every challenge.
    package static func python() async throws -> DigestServer {
        try await onThread { try DigestServer(script: script) }
    }

    private init(apacheOn port: Int, isProxy: Bool = false) throws {
        let folder = FileManager.default.temporaryDirectory.path + "/curlew-apache-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder + "/root", withIntermediateDirectories: true)
        // It reads as another user.
        chmod(folder, 0o755)
        func write(_ name: String, _ text: String) throws {
            try Data(text.utf8).write(to: URL(fileURLWithPath: folder + "/" + name))
            chmod(folder + "/" + name, 0o644)
        }
        try write("root/index.html", "hello")
        try write("conf", isProxy ? Self.proxyConfiguration(folder, port) : Self.configuration(folder, port))
        let apache = try Program.path("apache2")
        process = try CompanionProcess(
            "/bin/sh",
            [
                "-c",
                """
                printf 'ada:tests:%s\\n' "$(printf 'ada:tests:p:w' | md5sum | cut -d' ' -f1)" > '\(folder)/users'
                '\(apache)' -d '\(folder)' -f '\(folder)/conf' -k start || { cat '\(folder)/error.log'; exit 1; }
                echo started
                cat > /dev/null
                until [ -s '\(folder)/pid' ]; do :; done
                kill "$(cat '\(folder)/pid')"
                rm -rf '\(folder)'
                """,
            ])
        let line = process.readLine()
        guard line == "started" else { throw Program.Failure(description: "Apache did not start: \(line)") }
        url = "http://127.0.0.1:\(port)"
        self.folder = folder
    }

    private static func freePort() throws -> Int {
        let (descriptor, port) = try LoopbackPort.refusing()
        close(descriptor)
        return port
    }

    private init(script: String) throws {
        folder = ""
        process = try CompanionProcess(Program.python(), ["-c", script])
        let line = process.readLine()
        guard let port = Int(line) else { throw Program.Failure(description: "The server did not start: \(line)") }
        url = "http://127.0.0.1:\(port)"
    }

    private static func configuration(_ folder: String, _ port: Int) -> String {
        basics(folder, port, with: []) + """

            <Location />
            \(rules(folder))
            </Location>
            """
    }

    private static func proxyConfiguration(_ folder: String, _ port: Int) -> String {
        basics(folder, port, with: ["proxy", "proxy_connect"]) + """

            ProxyRequests On
            AllowCONNECT 1-65535
            LogFormat "%r | %{Proxy-Authorization}i" asked
            CustomLog \(folder)/requests asked
            <Proxy *>
            \(rules(folder))
            </Proxy>
            """
    }

    private static func rules(_ folder: String) -> String {
        """
        AuthType Digest
        AuthName tests
        AuthDigestProvider file
        AuthUserFile \(folder)/users
        Require valid-user
        """
    }

    private static func basics(_ folder: String, _ port: Int, with others: [String]) -> String {
        let modules =
            ["mpm_event", "authn_core", "authn_file", "authz_core", "authz_user", "auth_digest"] + others
        return """
            ServerRoot \(folder)
            ServerName localhost
            PidFile \(folder)/pid
            DefaultRuntimeDir \(folder)
            ErrorLog \(folder)/error.log
            DocumentRoot \(folder)/root
            Listen 127.0.0.1:\(port)
            \(modules.map { "LoadModule \($0)_module /usr/lib/apache2/modules/mod_\($0).so" }.joined(separator: "\n"))
            User nobody
            Group nogroup
            """
    }

    private static let script = """
        import hashlib, os, re, sys, threading
        from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
        uses, lock = {}, threading.Lock()
        H = lambda text: hashlib.sha256(text.encode()).hexdigest()
        USER = H("ada:tests")
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            def log_message(self, *args): pass
            def do_POST(self):
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                self.do_GET()
            def do_GET(self):
                field = self.headers.get("Authorization", "")
                part = {k: a or b for k, a, b in re.findall(r'(\\w+)=(?:"([^"]*)"|([^\\s,]+))', field)}
                secret = H("ada:tests:p:w")
                nonce = part.get("nonce", "")
                named = part.get("userhash") == "true" and part.get("username") == USER
                right = named and H(":".join([secret, nonce, part.get("nc", ""), part.get("cnonce", ""), "auth",
                                    H(self.command + ":" + self.path)])) == part.get("response")
                with lock:
                    known = nonce in uses and int(part.get("nc", "0"), 16) == uses[nonce] + 1 and uses[nonce] < 3
                    if right and known: uses[nonce] += 1
                    new = os.urandom(12).hex()
                    if not (right and known): uses[new] = 0
                if right and known:
                    self.send_response(200)
                else:
                    self.send_response(401)
                    text = 'Digest realm="tests", qop="auth", userhash=true, algorithm=SHA-256, nonce="%s"' % new
                    self.send_header("WWW-Authenticate", text + (", stale=true" if right else ""))
                body = b"hello" if right and known else b"no"
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        print(server.server_address[1], flush=True)
        sys.stdin.read()
        """
}
