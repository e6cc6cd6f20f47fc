// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import CurlewTesting
import Foundation
import TestServers
import Testing

@testable import CurlewCLI

/// The options whose effect needs a real server: TLS, HTTP/2, sockets and ports.
@Suite(.timeLimit(.minutes(2)))
struct SecureOptionTests {
    /// nginx; nil, with the reason printed, if it or openssl is missing.
    private func nginx() async throws -> Nginx? {
        do { return try await Nginx.shared() } catch let failure as Program.Failure {
            print("skipped: \(failure)")
            return nil
        }
    }

    @Test func authoritiesAndClientCertificatesAreUsed() async throws {
        guard let nginx = try await nginx() else { return }
        let trust = ["--cacert", nginx.certificates.authority]
        let url = nginx.secure() + "/connection"
        let trusted = await Run([url] + trust)
        #expect(trusted.code == 0 && trusted.output.contains("HTTP/2"), "\(trusted.error)")
        let unknown = await Run(url)
        #expect(unknown.code == 9 && unknown.error.contains("--cacert"), "\(unknown.error)")
        #expect(await Run([nginx.secure(.expired) + "/connection"] + trust).code == 9)
        #expect(await Run([nginx.secure(.wrongHost) + "/connection"] + trust).code == 9)

        // nginx says whom it sees.
        let client = nginx.certificates.client
        let pair = await Run([nginx.mutual + "/", "--cert", client + ".pem", "--key", client + ".key"] + trust)
        #expect(pair.code == 0 && pair.output.contains("SUCCESS CN=client"), "\(pair.output) \(pair.error)")
        let none = await Run([nginx.mutual + "/"] + trust)
        #expect(none.code == 4 && !none.output.contains("SUCCESS"), "\(none.output)")
        let folder = try TemporaryFolder()
        let both = try ["pem", "key"].reduce(into: Data()) { text, ending in
            text += try Data(contentsOf: URL(fileURLWithPath: client + "." + ending))
        }
        _ = try folder.file("both.pem", both)
        let one = await Run([nginx.mutual + "/", "--cert", "both.pem"] + trust, folder: folder.path)
        #expect(one.code == 0 && one.output.contains("SUCCESS CN=client"), "\(one.output) \(one.error)")
        let stranger = nginx.certificates.stranger
        let wrong = await Run([nginx.mutual + "/", "--cert", client + ".pem", "--key", stranger + ".key"] + trust)
        #expect([2, 9].contains(wrong.code) && wrong.error.contains("--cert"), "\(wrong.error)")
    }

    @Test func versionsOfHTTPAreChosen() async throws {
        guard let nginx = try await nginx() else { return }
        let secure = [nginx.secure() + "/connection", "--cacert", nginx.certificates.authority]
        #expect(await Run(secure + ["--http1.1"]).output.contains("HTTP/1.1"))
        #expect(await Run(secure + ["--http2"]).output.contains("HTTP/2"))
        let known = await Run(nginx.plain2 + "/connection", "--http2")
        #expect(known.code == 0 && known.output.contains("HTTP/2"), "\(known.error)")
        #expect(await Run("HTTP" + nginx.plain2.dropFirst(4) + "/connection", "--http2").output.contains("HTTP/2"))
        #expect(await Run(nginx.plain2 + "/connection").code != 0)
        #expect(await Run(secure + ["--http1.1", "--http2"]).code == 2)
    }

    @Test func aUnixSocketIsUsed() async throws {
        guard let nginx = try await nginx() else { return }
        let run = await Run("http://h.test/host", "--unix-socket", nginx.socket)
        #expect(run.code == 0 && run.output == "h.test", "\(run.error)")
    }

    @Test func theTimeToConnectIsLimited() async throws {
        let (listener, port) = try LoopbackPort.listen(backlog: 0)
        var sockets = [listener]
        defer { sockets.forEach { close($0) } }
        // The queue holds one or two; further ones receive no response.
        for _ in 0..<4 { sockets.append(try LoopbackPort.connecting(to: port)) }
        let run = await Run("http://127.0.0.1:\(port)/", "--connect-timeout=0.3")
        #expect(run.code == 8, "\(run.error)")
        // libcurl or the transport ends the attempt, with different texts. The default is 10 s. What they say does not
        // include waits of this test for a thread.
        let time = try #require(run.error.firstMatch(of: /(?:after|within) ([0-9]+) (m?s)/), "\(run.error)")
        #expect(time.2 == "ms" && (Int(time.1) ?? .max) < 9000, "\(run.error)")
    }

    @Test func theSampleAPIListensOnThePort() async throws {
        for attempt in 1...10 {
            let (socket, port) = try LoopbackPort.refusing()
            close(socket)
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
