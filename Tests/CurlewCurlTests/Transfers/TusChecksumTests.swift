// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewCurl
import CurlewHTTP
import CurlewTesting
import Foundation
import TestServers
import Testing

@testable import CurlewTransfers

/// Checksums, expiration and concatenation against a tus server that is not ours, over real connections.
@Suite(.timeLimit(.minutes(2)), .serialized)
struct TusChecksumTests {
    private static func server(_ kind: TusServer.Kind) async throws -> TusServer? {
        do {
            return try await TusServer.start(kind)
        } catch let failure as Program.Failure {
            print("skipped: \(failure)")
            return nil
        }
    }

    private static func bytes(_ count: Int, seed: UInt64) -> Data {
        var random = SeededGenerator(seed: seed)
        var data = Data(capacity: count + 8)
        while data.count < count { withUnsafeBytes(of: random.next()) { data.append(contentsOf: $0) } }
        return data.prefix(count)
    }

    private static func client(_ url: String) -> APIClient {
        APIClient(baseURL: BaseURL(stringLiteral: url), pipeline: [], transport: CurlTransport())
    }

    /// A proxy that changes one byte of the content on some connections, and notes the checksums and the statuses 460.
    private final class DamagingProxy: Sendable {
        let server: RawServer
        private let seen = Locked<(damages: Int, mismatches: Int, checksums: [String])>((0, 0, []))

        var damages: Int { seen.withLock { $0.damages } }
        var mismatches: Int { seen.withLock { $0.mismatches } }
        var checksums: [String] { seen.withLock { $0.checksums } }

        init(to port: Int, damages: Int) throws {
            let seen = seen
            server = try RawServer { client in
                let upstream = RawConnection(try LoopbackPort.connected(to: port), index: 0)
                startThread {
                    while let bytes = try? upstream.read(upTo: 65_536) {
                        let text = String(decoding: bytes.prefix(14), as: UTF8.self)
                        if text.hasPrefix("HTTP/1.1 460") { seen.withLock { $0.mismatches += 1 } }
                        try? client.write(bytes)
                    }
                    client.breakOff()
                }
                // The first bytes of a request are its head: damage hits what follows.
                while let bytes = try? client.read(upTo: 65_536) {
                    var bytes = bytes
                    let text = String(decoding: bytes.prefix(2000), as: UTF8.self)
                    if let field = text.range(of: "Upload-Checksum: ", options: .caseInsensitive) {
                        let value = text[field.upperBound...].prefix { $0 != "\r\n" && $0 != "\r" }
                        seen.withLock { $0.checksums.append(String(value)) }
                    }
                    if !text.contains("HTTP/1.1\r\n"), bytes.count > 1000 {
                        let isDamaged = seen.withLock { seen in
                            guard seen.damages < damages else { return false }
                            seen.damages += 1
                            return true
                        }
                        if isDamaged { bytes[bytes.startIndex + 500] ^= 0x20 }
                    }
                    try? upstream.write(bytes)
                }
                upstream.breakOff()
            }
        }
    }

    @Test("The server verifies each chunk, and a damaged one is sent again", arguments: ["sha256", "sha1", "md5"])
    func damage(algorithm: String) async throws {
        guard let server = try await Self.server(.full(checksums: algorithm)) else { return }
        let proxy = try DamagingProxy(to: server.port, damages: 3)
        let folder = try TemporaryFolder()
        let content = Self.bytes(3_000_000, seed: 3)
        let path = try folder.file("film.mp4", content)
        var options = Upload.Options(chunkSize: 500_000)
        options.checksums = true
        options.maximumWait = .milliseconds(20)
        let result = try await Self.client(proxy.server.url).upload(.file(path), to: .post("/files"), options: options)
        #expect(try Data(contentsOf: URL(fileURLWithPath: server.path(of: result.url))) == content)
        #expect(proxy.damages == 3 && proxy.mismatches >= 1)
        // The field is the name of the algorithm, a space, and the digest in Base64 with its padding.
        let chunk = content.prefix(500_000)
        let digest = algorithm == "sha256" ? MessageDigest.sha256(chunk) : try Self.digest(chunk, algorithm)
        #expect(proxy.checksums.first == "\(algorithm) \(digest.base64EncodedString())")
        #expect(proxy.checksums.count >= 7)
    }

    /// A digest by another implementation.
    private static func digest(_ data: Data, _ algorithm: String) throws -> Data {
        let folder = try TemporaryFolder()
        let script =
            "import hashlib, sys; sys.stdout.buffer.write("
            + "hashlib.new(sys.argv[1], open(sys.argv[2], 'rb').read()).digest())"
        return try Program.run(Program.python(), ["-c", script, algorithm, folder.file("chunk", data)])
    }

    @Test("The first algorithm that both know is used, whatever the order of the server")
    func preference() async throws {
        guard let server = try await Self.server(.full(checksums: "md5,sha512,sha1,sha256")) else { return }
        let proxy = try DamagingProxy(to: server.port, damages: 0)
        var options = Upload.Options()
        options.checksums = true
        let content = Self.bytes(100_000, seed: 1)
        let result = try await Self.client(proxy.server.url).upload(
            .data(content), to: .post("/files"), options: options)
        #expect(try Data(contentsOf: URL(fileURLWithPath: server.path(of: result.url))) == content)
        #expect(proxy.checksums.allSatisfy { $0.hasPrefix("sha256 ") } && !proxy.checksums.isEmpty)
    }

    @Test("Small content has a checksum too, although it could go with the creation", arguments: [1, 1000, 60_000])
    func small(count: Int) async throws {
        guard let server = try await Self.server(.full()) else { return }
        let proxy = try DamagingProxy(to: server.port, damages: 0)
        var options = Upload.Options()
        options.checksums = true
        let content = Self.bytes(count, seed: 2)
        let client = Self.client(proxy.server.url)
        let result = try await client.upload(.data(content), to: .post("/files"), options: options)
        #expect(try Data(contentsOf: URL(fileURLWithPath: server.path(of: result.url))) == content)
        #expect(proxy.checksums == ["sha1 \(try Self.digest(content, "sha1").base64EncodedString())"])
    }

    @Test("Twenty cuts with checksums: a cut chunk fails its checksum and is sent again, and the file is the same")
    func cuts() async throws {
        guard let server = try await Self.server(.full(checksums: "sha1")) else { return }
        var random = SeededGenerator(seed: 20)
        let cuts = (0..<20).map { _ in Int.random(in: 2_000...400_000, using: &random) }
        let proxy = try CuttingProxy(to: server.port, cuts: cuts)
        let folder = try TemporaryFolder()
        let content = Self.bytes(8_000_000, seed: 20)
        let path = try folder.file("film.mp4", content)
        var options = Upload.Options(chunkSize: 300_000)
        options.checksums = true
        options.maximumFailures = 30
        options.maximumWait = .milliseconds(50)
        let result = try await Self.client(proxy.url).upload(.file(path), to: .post("/files"), options: options)
        #expect(try Data(contentsOf: URL(fileURLWithPath: server.path(of: result.url))) == content)
    }

    @Test("The expiration of an upload is kept, and an upload that has expired begins anew")
    func expiration() async throws {
        guard let server = try await Self.server(.full(seconds: 600)) else { return }
        let content = Self.bytes(400_000, seed: 5)
        let folder = try TemporaryFolder()
        let file = folder.path + "/film"
        let kept = Locked<Upload.Descriptor?>(nil)
        var options = Upload.Options(chunkSize: 100_000)
        options.storage = .file(file + ".curlew-upload")
        let client = Self.client("http://127.0.0.1:\(server.port)")
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
