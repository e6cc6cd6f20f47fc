// SPDX-License-Identifier: MIT

import Foundation

/// A real nginx on loopback in a process of its own, so that the server is not what is measured.
final class Server {
    let url: String
    private let process: Process
    private let folder: URL

    /// Starts nginx on a free port and waits until it answers.
    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("curlew-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Clients.canned.write(to: folder.appendingPathComponent("user.json"))
        let port = try Self.freePort()
        url = "http://127.0.0.1:\(port)"
        let configuration = """
            worker_processes 1; daemon off; master_process off;
            pid \(folder.path)/pid; error_log \(folder.path)/error.log;
            events { worker_connections 8192; }
            http {
              access_log off; keepalive_requests 1000000000; keepalive_timeout 600;
              types { application/json json; }
              open_file_cache max=100;
              client_body_temp_path \(folder.path); proxy_temp_path \(folder.path); fastcgi_temp_path \(folder.path);
              uwsgi_temp_path \(folder.path); scgi_temp_path \(folder.path);
              server { listen 127.0.0.1:\(port) backlog=4096; root \(folder.path); }
            }
            """
        let file = folder.appendingPathComponent("nginx.conf")
        try Data(configuration.utf8).write(to: file)
        process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/sbin/nginx")
        process.arguments = ["-c", file.path, "-p", folder.path, "-e", folder.path + "/error.log"]
        try process.run()
        for _ in 0..<200 {
            if Self.answers(port) { return }
            usleep(20_000)
        }
        throw Failure("nginx did not start; see \(folder.path)/error.log")
    }

    deinit {
        // Programs started from a worker thread inherit its signal mask, and nginx would not hear a polite request.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        try? FileManager.default.removeItem(at: folder)
    }

    private static func freePort() throws -> UInt16 {
        try withSocket { descriptor in
            var address = loopback(0)
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let port: UInt16? =
                withUnsafeMutablePointer(to: &address) {
                    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        guard bind(descriptor, $0, length) == 0, getsockname(descriptor, $0, &length) == 0 else {
                            return false
                        }
                        return true
                    }
                } ? UInt16(bigEndian: address.sin_port) : nil
            guard let port else { throw Failure("no free port") }
            return port
        }
    }

    private static func answers(_ port: UInt16) -> Bool {
        let connected = try? withSocket { descriptor in
            var address = loopback(port)
            return withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
        }
        return connected ?? false
    }

    private static func withSocket<Result>(_ body: (Int32) throws -> Result) throws -> Result {
        #if os(Linux)
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        guard descriptor >= 0 else { throw Failure("no socket") }
        defer { close(descriptor) }
        return try body(descriptor)
    }

    private static func loopback(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }
}
