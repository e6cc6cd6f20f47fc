// SPDX-License-Identifier: MIT

import CurlewTransfers
import Testing

/// Downloads from a real nginx that are cut, cancelled and killed, over real connections.
@Suite(.timeLimit(.minutes(2)), .serialized)
struct DownloadContinuationTests {
    /// A file that nginx serves until the test ends.
    private final class ServedFile: Sendable {
        let name = "film-\(UUID().uuidString).bin"
        let path: String
        let digest: String

        init(_ nginx: Nginx, bytes: Int, seed: UInt64) throws {
            path = nginx.root + "/" + name
            let data = randomBytes(bytes, seed: seed)
            try data.write(to: URL(fileURLWithPath: path))
            digest = MessageDigest.sha256(data).hexText
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }
    }

    private let client = APIClient.curl(nil, .standard)

    @Test("Fifty cuts at random offsets, and the file is the same")
    func cuts() async throws {
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
        let saved = try await client.download(Request<Data>.get(url: proxy.url + "/" + file.name), to: path) {
            value in
            values.withLock { $0.append(value.completed) }
        }
        #expect(try sha256(ofFile: path) == file.digest, "seed \(seed)")
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
        #expect(try sha256(ofFile: path) == file.digest)
        let resumed = Int(text.dropFirst(5).filter(\.isNumber)) ?? 0
        print("DownloadContinuation: \(killed) kills, \(resumed) bytes left by earlier processes")
        #expect(killed >= 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["film.bin"])
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
        _ = try await client.download(Request<Data>.get(url: proxy.url + "/" + old.name), to: path) { value in
            guard value.completed > 0 else { return }
            let isFirst = isReplaced.withLock { done in
                defer { done = true }
                return !done
            }
            // Another file takes its place, with another time of change.
            if isFirst { rename(new.path, old.path) }
        }
        let found = try sha256(ofFile: path)
        #expect(found == old.digest || found == new.digest)
    }

    /// How a download ends that is continued later.
    enum End: CaseIterable, Sendable {
        case cancelled, killed, diskFull
    }

    /// How the download is continued.
    enum Continuation: CaseIterable, Sendable {
        case call, process
    }

    @Test(
        "A download ended at a random moment is continued, also if the file has changed meanwhile",
        arguments: End.allCases, Continuation.allCases)
    func ends(end: End, continuation: Continuation) async throws {
        let nginx = try await Nginx.shared()
        let folder = try TemporaryFolder()
        let probe = try Program.built("TransferProbe")
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        var partial = 0
        for round in 0..<5 {
            let file = try ServedFile(nginx, bytes: 8_000_000, seed: random.next())
            let url = nginx.plain + "/" + file.name
            let path = folder.path + "/film-\(round).bin"
            let bytes = Int.random(in: 1..<8_000_000, using: &random)
            switch end {
            case .cancelled: await cancel(url, path, at: bytes)
            case .killed:
                _ = try await run(probe, ["download", path, url, "\(Int.random(in: 1..<20, using: &random))"])
            case .diskFull: _ = try await run(probe, ["download", path, url, "-1"], fileSizeLimit: bytes)
            }
            let isPartial = FileManager.default.fileExists(atPath: path + ".part")
            partial += isPartial ? 1 : 0
            var digest = file.digest
            if isPartial, Bool.random(using: &random) {
                let length = 8_000_000 + Int.random(in: 0...1, using: &random)
                let next = try ServedFile(nginx, bytes: length, seed: random.next())
                // The entity tag of nginx is the second of the last change, and the length.
                let earlier = [FileAttributeKey.modificationDate: Date(timeIntervalSinceNow: -100)]
                try FileManager.default.setAttributes(earlier, ofItemAtPath: next.path)
                rename(next.path, file.path)
                digest = next.digest
            }
            if isPartial || !FileManager.default.fileExists(atPath: path) {
                switch continuation {
                case .call: try await client.download(Request<Data>.get(url: url), to: path)
                case .process:
                    let text = try await run(probe, ["download", path, url, "-1"])
                    #expect(text.hasPrefix("done"), "round \(round) of seed \(seed): \(text)")
                }
            }
            #expect(try sha256(ofFile: path) == digest, "round \(round) of seed \(seed)")
        }
        print("DownloadContinuation: \(partial) of 5 were partial: \(end), \(continuation), seed \(seed)")
        // A process that is killed while it names the complete file can leave an empty lock or a record.
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(!names.contains { $0.hasSuffix(".part") } && names.count { $0.hasSuffix(".bin") } == 5)
    }

    /// Cancels a download as soon as its partial file has so many bytes.
    private func cancel(_ url: String, _ path: String, at bytes: Int) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { _ = try? await client.download(Request<Data>.get(url: url), to: path) }
            group.addTask {
                try? await yieldUntil {
                    var facts = stat()
                    let isOpen = stat(path + ".part", &facts) == 0
                    return isOpen ? facts.st_size >= bytes : FileManager.default.fileExists(atPath: path)
                }
            }
            _ = await group.next()
            group.cancelAll()
        }
    }

    /// Runs a program to its end and returns what it has written. With a limit, a write beyond it fails as on a full
    /// disk.
    private func run(_ program: String, _ words: [String], fileSizeLimit: Int? = nil) async throws -> String {
        try await onThread {
            // The shell's unit is 512 bytes. Without the trap, the signal would end the process.
            let script = "trap '' XFSZ; ulimit -f \((fileSizeLimit ?? 0) / 512 + 1); exec \"$0\" \"$@\""
            let process =
                fileSizeLimit == nil
                ? try CompanionProcess(program, words)
                : try CompanionProcess("/bin/sh", ["-c", script, program] + words)
            let text = String(decoding: process.readToEnd(), as: UTF8.self)
            _ = process.finish()
            return text
        }
    }
}
