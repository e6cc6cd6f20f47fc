// SPDX-License-Identifier: MIT

import CurlewTransfers
import Testing

/// Downloads over real connections from servers that encode what they should not, and that redirect.
@Suite(.timeLimit(.minutes(2)))
struct HostileDownloadTests {
    private static let content = Data((0..<300_000).map { UInt8(truncatingIfNeeded: ($0 &* $0) >> 9) })

    private static func head(_ status: String, _ fields: [String], _ length: Int) -> String {
        (["HTTP/1.1 \(status)", "ETag: \"v1\"", "Connection: close"] + fields + ["Content-Length: \(length)", "", ""])
            .joined(separator: "\r\n")
    }

    @Test("A coded part is never used, although the transport could decode it", arguments: [false, true])
    func codedPart(isLaterCall: Bool) async throws {
        let coded = try await Program.encode(Self.content.suffix(200_000), "gzip")
        let server = try RawServer { connection in
            let text = try connection.readHead()
            if connection.index == 0 {
                try connection.write(Self.head("200 OK", ["Accept-Ranges: bytes"], 300_000))
                try connection.write(Self.content.prefix(100_000))
            } else if text.contains("Range: bytes=100000-") {
                // The first call gets no further.
                guard !isLaterCall || connection.index > 8 else { return connection.reset() }
                let fields = ["Content-Range: bytes 100000-299999/300000", "Content-Encoding: gzip"]
                try connection.write(Self.head("206 Partial Content", fields, coded.count))
                try connection.write(coded)
            } else {
                try connection.write(Self.head("200 OK", ["Accept-Ranges: bytes"], 300_000))
                try connection.write(Self.content)
            }
            connection.endOutput()
            connection.waitUntilClosed()
        }
        let folder = try TemporaryFolder()
        let path = folder.path + "/film.bin"
        let client = APIClient.curl(
            nil, configuration: APIClient.Configuration(time: ManualClock(skipsWaits: true)))
        let request = Request<Data>.get(url: server.url + "/film")
        if isLaterCall {
            await #expect(throws: NetworkError.self) { try await client.download(request, to: path) }
        }
        try await client.download(request, to: path)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Self.content)
    }

    @Test("A coded response is decoded, saved without its coded digest, and not continued")
    func codedFile() async throws {
        let coded = try await Program.encode(Self.content.prefix(2000), "gzip")
        let digest = MessageDigest.sha256(coded).base64EncodedString()
        let server = try RawServer { connection in
            _ = try connection.readHead()
            let fields = ["Content-Encoding: gzip", "Repr-Digest: sha-256=:\(digest):", "Accept-Ranges: bytes"]
            try connection.write(Data(Self.head("200 OK", fields, coded.count).utf8) + coded)
            connection.endOutput()
            connection.waitUntilClosed()
        }
        let folder = try TemporaryFolder()
        for name in ["film.bin", ""] {
            let options = FileDownload.Options(existing: .replace)
            let request = Request<Data>.get(url: server.url + "/film.bin")
            let saved = try await APIClient.curl(nil, .standard).download(
                request, to: folder.path + "/" + name, options: options)
            #expect(try Data(contentsOf: URL(fileURLWithPath: saved.value.path)) == Self.content.prefix(2000))
        }
    }

    @Test("A download that every request redirects to another origin is continued there")
    func redirected() async throws {
        let nginx = try await Nginx.shared()
        let name = "redirected-\(UUID().uuidString).bin"
        try Self.content.write(to: URL(fileURLWithPath: nginx.root + "/" + name))
        defer { try? FileManager.default.removeItem(atPath: nginx.root + "/" + name) }
        let port = try #require(URL(string: nginx.plain)?.port)
        let proxy = try CuttingProxy(to: port, cuts: [100_000, 120_000], .fromServer)
        let ranges = Locked<[Bool]>([])
        let entrance = try RawServer { connection in
            let text = try connection.readHead()
            ranges.withLock { $0.append(text.contains("\r\nRange: bytes=") && text.contains("\r\nIf-Range: ")) }
            let fields = ["Location: \(proxy.url)/\(name)"]
            try connection.write(Self.head("302 Found", fields, 0))
            connection.endOutput()
            connection.waitUntilClosed()
        }
        let folder = try TemporaryFolder()
        let path = folder.path + "/film.bin"
        let saved = try await APIClient.curl(nil, .standard).download(
            Request<Data>.get(url: entrance.url + "/film"), to: path)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Self.content)
        #expect(saved.status == .ok && proxy.cuts == 2)
        #expect(ranges.withLock { $0 } == [false, true, true])
    }
}
