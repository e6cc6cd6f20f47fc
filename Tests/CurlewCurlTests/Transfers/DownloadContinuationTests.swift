// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewCurl
import CurlewHTTP
import CurlewTesting
import CurlewTransfers
import Foundation
import TestServers
import Testing

/// Downloads from a real nginx that are cut, killed and divided, over real connections.
@Suite(.timeLimit(.minutes(2)), .serialized)
struct DownloadContinuationTests {
    /// A file that nginx serves until the test ends.
    private final class ServedFile: Sendable {
        let name = "film-\(UUID().uuidString).bin"
        let path: String
        let digest: String

        init(_ nginx: Nginx, bytes: Int, seed: UInt64) throws {
            path = nginx.root + "/" + name
            var random = SeededGenerator(seed: seed)
            let block = Data((0..<100_003).map { _ in UInt8.random(in: 0...255, using: &random) })
            var data = Data(capacity: bytes + block.count)
            while data.count < bytes {
                withUnsafeBytes(of: random.next()) { data.append(contentsOf: $0) }
                data.append(block)
            }
            data = data.prefix(bytes)
            try data.write(to: URL(fileURLWithPath: path))
            digest = MessageDigest.sha256(data).hexText
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }
    }

    private func digest(_ path: String) throws -> String {
        MessageDigest.sha256(try Data(contentsOf: URL(fileURLWithPath: path))).hexText
    }

    private func client() -> APIClient {
        APIClient(baseURL: nil, pipeline: .standard, transport: CurlTransport())
    }

    @Test(
        "Fifty cuts at random offsets, over one connection and over four, and the file is the same", arguments: [1, 4])
    func cuts(connections: Int) async throws {
        let nginx = try await Nginx.shared()
        let seed = UInt64.random(in: .min ... .max)
        let file = try ServedFile(nginx, bytes: 40_000_000, seed: seed)
        var random = SeededGenerator(seed: seed)
        let cuts = (0..<50).map { _ in Int.random(in: 70_000..<500_000, using: &random) }
        let port = try #require(URL(string: nginx.plain)?.port)
        let proxy = try CuttingProxy(to: port, cuts: cuts, .fromServer)
        let folder = try TemporaryFolder()
        let path = folder.path + "/film.bin"
        let values = Locked<[Int64]>([])
        let options = FileDownload.Options(connections: connections)
        let saved = try await client().download(
            Request<Data>.get(url: proxy.url + "/" + file.name), to: path, options: options
        ) { value in values.withLock { $0.append(value.completed) } }
        #expect(try digest(path) == file.digest, "seed \(seed)")
        #expect(saved.value.byteCount == 40_000_000 && proxy.cuts == 50)
        #expect(values.withLock { $0 == $0.sorted() && $0.last == 40_000_000 })
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["film.bin"])
    }

    @Test("Ten kills of the process, and the file is the same")
    func kills() async throws {
        let nginx = try await Nginx.shared()
        let file = try ServedFile(nginx, bytes: 150_000_000, seed: 10)
        let folder = try TemporaryFolder()
        let path = folder.path + "/film.bin"
        let probe = try Program.built("TransferProbe")
        var random = SeededGenerator(seed: 10)
        var (killed, text) = (0, "")
        for round in 0..<60 where !text.hasPrefix("done") {
            let time = killed < 10 ? Int.random(in: 15..<35, using: &random) : -1
            let url = nginx.plain + "/" + file.name
            (text, killed) = try await onThread { [killed] in
                let process = try CompanionProcess(probe, ["download", path, url, "\(time)"])
                let text = String(decoding: process.readToEnd(), as: UTF8.self)
                return (text, killed + (process.finish() & 0x7F == SIGKILL ? 1 : 0))
            }
            #expect(!text.hasPrefix("failed"), "round \(round): \(text)")
        }
        #expect(try digest(path) == file.digest)
        let resumed = Int(text.dropFirst(5).filter(\.isNumber)) ?? 0
        print("DownloadContinuation: \(killed) kills, \(resumed) bytes left by earlier processes")
        #expect(killed >= 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["film.bin"])
    }

    @Test("A download that was cancelled is continued at once by the next one")
    func cancelled() async throws {
        let nginx = try await Nginx.shared()
        let file = try ServedFile(nginx, bytes: 30_000_000, seed: 3)
        let folder = try TemporaryFolder()
        let client = client()
        let request = Request<Data>.get(url: nginx.plain + "/" + file.name)
        var cancelled = 0
        for round in 0..<30 {
            let path = folder.path + "/film-\(round).bin"
            let progress = TransferProgress.Updates()
            let task = Task { try await client.download(request, to: path, progress: progress.handler) }
            for await _ in progress { task.cancel() }
            if case .failure = await task.result {
                cancelled += 1
                try await client.download(request, to: path)
            }
            #expect(try digest(path) == file.digest)
        }
        #expect(cancelled > 0)
    }

    @Test("A file that is replaced on the server between cuts is never mixed")
    func replaced() async throws {
        let nginx = try await Nginx.shared()
        let old = try ServedFile(nginx, bytes: 5_000_000, seed: 1)
        let new = try ServedFile(nginx, bytes: 5_000_000, seed: 2)
        let port = try #require(URL(string: nginx.plain)?.port)
        let proxy = try CuttingProxy(to: port, cuts: [2_000_000], .fromServer)
        let folder = try TemporaryFolder()
        let path = folder.path + "/film.bin"
        let isReplaced = Locked(false)
        _ = try await client().download(Request<Data>.get(url: proxy.url + "/" + old.name), to: path) { value in
            guard value.completed > 0 else { return }
            let isFirst = isReplaced.withLock { done in
                defer { done = true }
                return !done
            }
            // Another file takes its place, with another time of change.
            if isFirst { rename(new.path, old.path) }
        }
        let found = try digest(path)
        #expect(found == old.digest || found == new.digest)
    }
}
