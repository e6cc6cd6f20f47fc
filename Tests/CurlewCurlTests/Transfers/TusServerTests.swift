// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewTransfers

/// Resumable uploads against a tus server that is not ours, over real connections.
@Suite(.timeLimit(.minutes(2)), .serialized)
struct TusServerTests {
    /// The server; nil, with the reason printed, if its packages are missing.
    private static func server(_ kind: TusServer.Kind = .small) async throws -> TusServer? {
        do {
            return try await TusServer.start(kind)
        } catch let failure as Program.Failure {
            print("skipped: \(failure)")
            return nil
        }
    }

    @Test("Twenty cuts, and the file is the same", arguments: [UInt64(1)])
    func cuts(seed: UInt64) async throws {
        guard let server = try await Self.server() else { return }
        var random = SeededGenerator(seed: seed)
        let cuts = (0..<20).map { _ in Int.random(in: 2_000...400_000, using: &random) }
        let proxy = try CuttingProxy(to: server.port, cuts: cuts)
        let folder = try TemporaryFolder()
        let path = try folder.file("film.mp4", randomBytes(12_000_000, seed: seed))
        var options = Upload.Options()
        options.maximumWait = .milliseconds(100)
        let values = Locked<[Int64]>([])
        let result = try await APIClient.curl(proxy.url).upload(.file(path), to: .post("/files/"), options: options) {
            value in values.withLock { $0.append(value.completed) }
        }
        #expect(try sha256(ofFile: server.path(of: result.url)) == sha256(ofFile: path), "seed \(seed)")
        #expect(proxy.cuts == 20)
        #expect(values.withLock { $0 == $0.sorted() && $0.last == 12_000_000 })
    }

    @Test("Five kills of the process, and the file is the same")
    func kills() async throws {
        guard let server = try await Self.server() else { return }
        let folder = try TemporaryFolder()
        let path = try folder.file("film.mp4", randomBytes(120_000_000, seed: 5))
        let probe = try Program.built("TransferProbe")
        var random = SeededGenerator(seed: 5)
        var killed = 0
        var text = ""
        for round in 0..<40 where !text.hasPrefix("done") {
            let time = killed < 5 ? Int.random(in: 20..<60, using: &random) : -1
            let url = "http://127.0.0.1:\(server.port)"
            (text, killed) = try await onThread { [killed] in
                let process = try CompanionProcess(probe, ["upload", path, url, "\(time)"])
                let text = String(decoding: process.readToEnd(), as: UTF8.self)
                return (text, killed + (process.finish() & 0x7F == SIGKILL ? 1 : 0))
            }
            #expect(!text.hasPrefix("failed"), "round \(round): \(text)")
        }
        let result = text.trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(try sha256(ofFile: server.path(of: result)) == sha256(ofFile: path))
        #expect(killed >= 1)
        print("TusServer: \(killed) kills")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["film.mp4"])
    }

    @Test("The server's extensions work: creation with upload, chunks")
    func extensions() async throws {
        guard let server = try await Self.server() else { return }
        let client = APIClient.curl("http://127.0.0.1:\(server.port)")
        let folder = try TemporaryFolder()
        for (count, chunk) in [(0, nil), (1000, nil), (300_000, Int64(70_000))] {
            let path = try folder.file("film.mp4", randomBytes(count, seed: UInt64(count)))
            let options = Upload.Options(chunkSize: chunk)
            let result = try await client.upload(.file(path), to: .post("/files/"), options: options)
            #expect(try sha256(ofFile: server.path(of: result.url)) == sha256(ofFile: path), "\(count)")
        }
        let data = randomBytes(250_000, seed: 9)
        var options = Upload.Options(chunkSize: 100_000)
        options.fileName = "film.mp4"
        let result = try await client.upload(.data(data), to: .post("/files/"), options: options)
        #expect(try Data(contentsOf: URL(fileURLWithPath: server.path(of: result.url))) == data)
    }

    @Test("The expiration of an upload is kept, and an upload that has expired begins anew")
    func expiration() async throws {
        guard let server = try await Self.server(.full(seconds: 600)) else { return }
        let content = randomBytes(400_000, seed: 5)
        let folder = try TemporaryFolder()
        let file = folder.path + "/film"
        let kept = Locked<Upload.Descriptor?>(nil)
        var options = Upload.Options(chunkSize: 100_000)
        options.storage = .file(file + ".curlew-upload")
        let client = APIClient.curl("http://127.0.0.1:\(server.port)")
        let first = try await client.upload(.data(content), to: .post("/files"), options: options) { _ in
            guard let descriptor = try? Upload.Descriptor.saved(besideFile: file) else { return }
            kept.withLock { $0 = descriptor }
        }
        let descriptor = try #require(kept.withLock { $0 })
        let left = try #require(descriptor.expires).timeIntervalSinceNow
        #expect(left > 500 && left <= 601)
        // The same descriptor, when it says that the time has passed: nothing is asked about the old upload.
        var old = descriptor
        old.expires = Date(timeIntervalSinceNow: -1)
        let second = try await client.resume(old, from: .data(content), options: options)
        #expect(second.url != first.url && second.length == 400_000)
        #expect(try Data(contentsOf: URL(fileURLWithPath: server.path(of: second.url))) == content)
    }
}
