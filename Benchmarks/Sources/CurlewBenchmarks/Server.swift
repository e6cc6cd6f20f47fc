// SPDX-License-Identifier: MIT

import Foundation

/// A real nginx on loopback, and a sink for uploads, in processes of their own: the server is not what is measured.
final class Server {
    /// What every client's process gets as its environment beside the usual.
    let environment: [String: String]
    /// Where the files are that nginx serves and that clients write.
    let folder: String
    private let files: String
    private let ports: [Door: UInt16]
    private let sinkPort: UInt16
    private let nginx = Process()
    private let sink = Process()
    /// Each ends when its input does, in whatever way this process ends.
    private let lifelines = (nginx: Pipe(), sink: Pipe())

    /// Starts both on free ports and waits until they answer. `room` is how many bytes of files there will be.
    init(room: Int) throws {
        let folder = Self.place(room) + "/curlew-bench-\(UUID().uuidString)"
        var isStarted = false
        defer { if !isStarted { try? FileManager.default.removeItem(atPath: folder) } }
        self.folder = folder
        files = folder + "/files"
        try FileManager.default.createDirectory(atPath: files, withIntermediateDirectories: true)
        try Canned.user.write(to: URL(fileURLWithPath: files + "/user.json"))
        let certificates = try Certificates(in: folder)
        environment = certificates.environment
        sinkPort = try Self.start(sink, input: lifelines.sink)
        var ports: [Door: UInt16] = [:]
        for door in Door.allCases { ports[door] = try Self.port(besides: Array(ports.values)) }
        self.ports = ports
        try Self.write(ports, sinkPort, files, certificates, to: folder)
        try start()
        isStarted = true
    }

    deinit {
        for lifeline in [lifelines.nginx, lifelines.sink] { try? lifeline.fileHandleForWriting.close() }
        for process in [nginx, sink] where process.isRunning { process.waitUntilExit() }
    }

    /// The address for `work`. Uploads without TLS go straight to the sink.
    func url(_ door: Door, for work: Work) -> String {
        if case .upload = work, !door.isSecure { return "http://127.0.0.1:\(sinkPort)" }
        return "\(door.isSecure ? "https" : "http")://127.0.0.1:\(ports[door, default: 0])"
    }

    /// Makes the file that `work` gets or sends, if it is not there.
    func prepare(_ size: Int) throws -> String {
        let path = "\(files)/\(size).bin"
        if !FileManager.default.fileExists(atPath: path) { try Canned.write(size, to: path) }
        return path
    }

    /// In memory if there is room, so that no disk is measured.
    private static func place(_ room: Int) -> String {
        let memory = "/dev/shm"
        let facts = try? FileManager.default.attributesOfFileSystem(forPath: memory)
        let free = (facts?[.systemFreeSize] as? NSNumber)?.int64Value ?? 0
        let isUsable = free > Int64(room) && FileManager.default.isWritableFile(atPath: memory)
        return isUsable ? memory : FileManager.default.temporaryDirectory.path
    }

    private static func port(besides others: [UInt16]) throws -> UInt16 {
        for _ in 0..<100 {
            let port = try Sockets.freePort()
            if !others.contains(port) { return port }
        }
        throw Failure("no free port")
    }

    private static func start(_ sink: Process, input: Pipe) throws -> UInt16 {
        let output = Pipe()
        sink.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
        sink.arguments = ["sink"]
        sink.standardInput = input
        sink.standardOutput = output
        try sink.run()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let port = UInt16(line.split(separator: "\n").first ?? "") else {
            throw Failure("the sink did not start")
        }
        return port
    }

    private static func write(
        _ ports: [Door: UInt16], _ sink: UInt16, _ files: String, _ certificates: Certificates, to folder: String
    ) throws {
        let blocks = Door.allCases.map { door in
            door.block(port: ports[door, default: 0], sink: sink, files: files, certificates: certificates)
        }
        let configuration = """
            worker_processes 1; daemon off; master_process off; worker_rlimit_nofile 16384;
            pid \(folder)/pid; error_log \(folder)/error.log;
            events { worker_connections 8192; }
            http {
              access_log off; keepalive_requests 1000000000; keepalive_timeout 600; sendfile on;
              types { application/json json; } default_type application/octet-stream;
              open_file_cache max=100; http2_max_concurrent_streams 128; http2_body_preread_size 1m;
              client_body_temp_path \(folder); proxy_temp_path \(folder); fastcgi_temp_path \(folder);
              uwsgi_temp_path \(folder); scgi_temp_path \(folder);
              \(blocks.joined(separator: "\n"))
            }
            """
        try Data(configuration.utf8).write(to: URL(fileURLWithPath: folder + "/nginx.conf"))
    }

    /// A shell holds nginx and the folder until the lifeline is cut. It uses a signal that cannot be blocked: programs
    /// started from a worker thread inherit its mask.
    private func start() throws {
        guard let program = Program.path("nginx") else { throw Failure("nginx is not installed: Scripts/setup") }
        let script = """
            trap '' INT TERM HUP
            "$1" -p "$2" -c "$2/nginx.conf" -e "$2/error.log" & server=$!
            cat > "$2/held"
            kill -KILL $server
            rm -rf "$2"
            """
        nginx.executableURL = URL(fileURLWithPath: "/bin/sh")
        nginx.arguments = ["-c", script, "sh", program, folder]
        nginx.standardInput = lifelines.nginx
        try nginx.run()
        for _ in 0..<200 {
            if ports.values.allSatisfy(Sockets.answers) { return }
            usleep(20_000)
        }
        let log = try? String(contentsOfFile: folder + "/error.log", encoding: .utf8)
        throw Failure("nginx did not start: \(log?.split(separator: "\n").last ?? "it says nothing")")
    }
}
