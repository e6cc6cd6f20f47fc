// SPDX-License-Identifier: MIT

import CurlewTransfers
import Testing

/// Two processes that transfer the same file: one of them does, the other one is refused. A process that is killed leaves
/// no lock.
@Suite(.timeLimit(.minutes(2)), .serialized)
struct TransferLockTests {
    /// A server whose responses do not end. It says when a request has arrived.
    private static func server() throws -> (RawServer, arrived: Locked<Int>) {
        let arrived = Locked(0)
        let server = try RawServer { connection in
            let head = try connection.readHead()
            arrived.withLock { $0 += 1 }
            guard head.hasPrefix("GET") else { return connection.waitUntilClosed() }
            let text = "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 1000000\r\n\r\n"
            try connection.write(Data(text.utf8) + Data(repeating: 1, count: 1000))
            connection.waitUntilClosed()
        }
        return (server, arrived)
    }

    @Test(
        "The second process is refused, and succeeds after the first one was killed", arguments: ["upload", "download"])
    func processes(kind: String) async throws {
        let (server, arrived) = try Self.server()
        let folder = try TemporaryFolder()
        let path = folder.path + "/film.bin"
        if kind == "upload" { _ = try folder.file("film.bin", Data(repeating: 7, count: 100_000)) }
        let probe = try Program.built("TransferProbe")
        let url = server.url
        /// Runs a second process, which must not write anything.
        func second() async throws -> String {
            try await onThread {
                let process = try CompanionProcess(probe, [kind, path, url, "-1"])
                let text = String(decoding: process.readToEnd(), as: UTF8.self)
                _ = process.finish()
                return text
            }
        }
        let first = try await onThread { try CompanionProcess(probe, [kind, path, url, "-1"]) }
        #expect(await eventually { arrived.withLock { $0 } >= 1 })
        for _ in 0..<2 {
            let text = try await second()
            let words = kind == "upload" ? "Another call or process transfers the same upload" : "has locked"
            #expect(text.hasPrefix("failed") && text.contains(words), "\(text)")
        }
        #expect(arrived.withLock { $0 } == 1)
        // A client of this process is refused as well.
        let client = APIClient.curl(url)
        let error = await #expect(throws: NetworkError.self) {
            if kind == "upload" {
                try await client.upload(.file(path), to: .post("/"), options: Upload.Options(storage: .besideSource))
            } else {
                try await client.download(Request<Data>.get(url: url), to: path)
            }
        }
        #expect(error?.reason == (kind == "upload" ? .refused(by: .uploadInProgress) : .storage))
        #expect(error?.hint?.contains("Wait until it has ended") == true)
        let status = try await onThread {
            first.kill()
            _ = first.readToEnd()
            return first.finish()
        }
        #expect(status & 0x7F == SIGKILL)
        // The lock has ended with its process: the next one sends its request.
        let third = try await onThread { try CompanionProcess(probe, [kind, path, url, "-1"]) }
        #expect(await eventually { arrived.withLock { $0 } >= 2 })
        _ = try await onThread {
            third.kill()
            _ = third.readToEnd()
            return third.finish()
        }
    }
}
