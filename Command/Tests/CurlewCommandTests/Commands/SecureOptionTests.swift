// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting
import Foundation
import Testing

@testable import CurlewCommand

/// The options whose effect needs a real server: TLS, ports, partial files.
@Suite(.timeLimit(.minutes(2)))
struct SecureOptionTests {
    @Test func authoritiesAreTrusted() async throws {
        let servers: [SecureServer]
        do { servers = [try await .start(), try await .start(for: "DNS:other.test")] } catch let failure
            as Program.Failure
        {
            print("skipped: \(failure)")
            return
        }
        let trusted = await Run(servers[0].url, "--cacert", servers[0].authority)
        #expect(trusted.code == 0 && trusted.output.contains("TLS"), "\(trusted.error)")
        let unknown = await Run(servers[0].url)
        #expect(unknown.code == 9 && unknown.error.contains("--cacert"), "\(unknown.error)")
        #expect(await Run(servers[0].url, "--cacert", servers[1].authority).code == 9)
        // The name in the certificate is another one.
        #expect(await Run(servers[1].url, "--cacert", servers[1].authority).code == 9)
    }

    @Test func theSampleAPIListensOnThePort() async throws {
        for attempt in 1...10 {
            let other = try MockServer()
            let port = other.port
            other.stop()
            let (streams, hasEnded) = (Streams(), Locked(false))
            let task = Task {
                let code = await CommandLineTool.run(["serve", "--port=\(port)"], io: streams.io())
                hasEnded.withLock { $0 = true }
                return code
            }
            #expect(await eventually { streams.text(\.output).contains("\n") || hasEnded.withLock { $0 } })
            // Another test may have taken the port meanwhile.
            if streams.text(\.output).isEmpty, attempt < 10 {
                task.cancel()
                _ = await task.value
                continue
            }
            #expect(streams.text(\.output) == "http://127.0.0.1:\(port)\n")
            task.cancel()
            #expect(await task.value == 130)
            return
        }
    }

    @Test(arguments: [false, true])
    func aRestartDiscardsThePartialFile(_ restarts: Bool) async throws {
        let server = try MockServer()
        defer { server.stop() }
        let body = MockResponse.pattern(0..<3_000_000)
        server.on(.get, "/f") { request in
            let start = request.headers[.range].flatMap { Int($0.dropFirst(6).prefix { $0 != "-" }) } ?? 0
            var response = MockResponse.data(body.suffix(from: start))
            response.headers["ETag"] = "\"1\""
            guard request.headers["X-Second"] != nil else { return response.stalled(at: .afterBytes(2_000_000)) }
            guard start > 0 else { return response }
            response.status = .partialContent
            response.headers["Content-Range"] = "bytes \(start)-2999999/3000000"
            return response
        }
        let folder = try TemporaryFolder()
        let words = ["download", server.url + "/f", "-o", "f"]
        let io = Streams().io(folder: folder.path)
        let first = Task { await CommandLineTool.run(words, io: io) }
        let part = folder.path + "/f.part"
        #expect(
            await eventually {
                ((try? FileManager.default.attributesOfItem(atPath: part)[.size] as? Int) ?? 0) >= 1_000_000
            })
        first.cancel()
        #expect(await first.value == 130)
        let count = server.requestCount
        let run = await Run(words + ["X-Second:1"] + (restarts ? ["--restart"] : []), folder: folder.path)
        #expect(run.code == 0 && run.output.contains("were there before") != restarts, "\(run.output) \(run.error)")
        let next = server.requests.dropFirst(count).first
        #expect(next?.headers.contains(.range) == !restarts)
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.path + "/f")) == body)
    }
}
