// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewCurl
import CurlewHTTP
import CurlewTesting
import CurlewTransfers
import Foundation
import TestServers
import Testing

/// Large bodies over a socket to a server in another process. `CURLEW_MULTIPART_BYTES` makes them larger than in a usual
/// run, and measures the memory of the process, for which no other test may run.
@Suite(.timeLimit(.minutes(5)), .serialized)
struct LargeBodyMemoryTests {
    /// What the server has seen of a body.
    private struct Seen: Decodable {
        var bytes: Int64
        /// The time at which the first byte of the body arrived, in seconds since 1970.
        var first: Double
        var sha256: String
    }

    /// Counts the bytes of each request. The content is not kept.
    private static let script = """
        import hashlib, json, socket, sys, threading, time
        def serve(client):
            file = client.makefile("rb", 1 << 20)
            while True:
                line = file.readline()
                if not line: return
                fields = {}
                while True:
                    line = file.readline().strip()
                    if not line: break
                    name, value = line.decode().split(":", 1)
                    fields[name.lower()] = value.strip()
                seen = {"bytes": 0, "first": 0}
                digest = hashlib.sha256()
                if "100-continue" in fields.get("expect", ""): client.sendall(b"HTTP/1.1 100 Continue\\r\\n\\r\\n")
                def take(count):
                    while count:
                        data = file.read1(min(count, 1 << 20))
                        if not data: raise EOFError
                        if not seen["first"]: seen["first"] = time.time()
                        seen["bytes"] += len(data)
                        count -= len(data)
                        digest.update(data)
                if "transfer-encoding" in fields:
                    while True:
                        size = int(file.readline(), 16)
                        take(size)
                        file.readline()
                        if not size: break
                else:
                    take(int(fields.get("content-length", 0)))
                seen["sha256"] = digest.hexdigest()
                body = json.dumps(seen).encode()
                client.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(body) + body)
        def watch():
            sys.stdin.buffer.read()
            import os
            os._exit(0)
        listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=watch, daemon=True).start()
        print(listener.getsockname()[1], flush=True)
        while True:
            client, _ = listener.accept()
            threading.Thread(target=serve, args=(client,), daemon=True).start()
        """

    private static func server() async throws -> (CompanionProcess, url: String) {
        try await onThread {
            let process = try CompanionProcess(Program.python(), ["-c", script])
            return (process, "http://127.0.0.1:\(process.readLine())")
        }
    }

    /// A number of bytes that the system says of the process: `VmRSS`, its memory, or `VmHWM`, the peak since
    /// `forgetPeak`; 0 where the system does not say.
    private static func memory(_ name: String) -> Int {
        let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix(name + ":") }
        return (line.flatMap { Int($0.filter(\.isNumber)) } ?? 0) << 10
    }

    /// Without the rights to do so, the peak is that of the whole run, and the growth seems larger than it is.
    private static func forgetPeak() {
        try? Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/self/clear_refs"))
    }

    private static var wanted: Int64? {
        ProcessInfo.processInfo.environment["CURLEW_MULTIPART_BYTES"].flatMap { Int64($0) }
    }

    private static func client(_ url: String) -> APIClient {
        APIClient(
            baseURL: BaseURL(stringLiteral: url), pipeline: [], transport: CurlTransport(),
            configuration: APIClient.Configuration(timeouts: Timeouts(total: .seconds(280))))
    }

    @Test("A form with a large file is sent in constant memory, its first byte at once")
    func multipart() async throws {
        let (process, url) = try await Self.server()
        defer { withExtendedLifetime(process) {} }
        let size = Self.wanted ?? 64 << 20
        let folder = try TemporaryFolder()
        let path = try folder.file("large.bin", "")
        let file = try #require(FileHandle(forWritingAtPath: path))
        try file.truncate(atOffset: UInt64(size))
        try file.close()
        let client = Self.client(url)
        // The first call opens the connection and pays for what is made once.
        let small = try folder.file("small.bin", Data(repeating: 1, count: 1 << 20))
        _ = try await client.send(Request<Seen>.post("/", body: .multipart([.file("f", path: small)])))

        Self.forgetPeak()
        let before = Self.memory("VmRSS")
        let start = Date().timeIntervalSince1970
        let form: MultipartForm = [.field("a", "1"), .file("large", path: path)]
        let seen = try await client.send(Request<Seen>.post("/", body: .multipart(form)))
        let time = Date().timeIntervalSince1970 - start
        #expect(seen.bytes > size && seen.bytes < size + 1000)
        guard Self.wanted != nil else { return }
        let growth = Self.memory("VmHWM") - before
        let first = Int((seen.first - start) * 1000)
        print("multipart over a socket: \(size) bytes in \(time) s, first byte after \(first) ms, +\(growth >> 10) KiB")
        #expect(first < 50)
        #expect(growth <= 24 << 20)
    }
}
