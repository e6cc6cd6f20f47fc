// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewCurl
import CurlewHTTP
import CurlewTesting
import CurlewTransfers
import Foundation
import TestServers
import Testing

/// Resumable uploads of the draft against `draftserver.py`, which was written from its text: interim responses with
/// status 104, random cuts, and each rule for clients.
@Suite(.timeLimit(.minutes(2)), .serialized)
struct DraftServerTests {
    private struct Report: Decodable {
        var creations: Int
        var cuts: Int
        var interims: Int
        var appends: Int
        var conflicts: Int
        var violations: [String]
    }

    private struct Outcome: Decodable {
        var sha256: String
    }

    private final class Fixture: Sendable {
        let server: ScriptServer
        let folder: TemporaryFolder
        let client: APIClient

        init(
            cuts: Int, seed: UInt64, least: Int = 0, most: Int = 1_000_000, observers: [any RequestObserver] = []
        ) async throws {
            folder = try TemporaryFolder()
            server = try await ScriptServer.start(
                "draftserver.py", [folder.path, "\(seed)", "\(cuts)", "\(least)", "\(most)"])
            client = APIClient(
                baseURL: BaseURL(stringLiteral: server.url), pipeline: [], transport: CurlTransport(),
                configuration: APIClient.Configuration(observers: observers))
        }

        var report: Report {
            get async throws { try await client.send(Request<Report>.get("/report")) }
        }

        func digest(of url: String?) throws -> String {
            let name = url?.split(separator: "/").last.map(String.init) ?? ""
            return MessageDigest.sha256(try Data(contentsOf: URL(fileURLWithPath: folder.path + "/" + name))).hexText
        }
    }

    private struct InterimCounter: RequestObserver {
        let count = Locked(0)

        func record(_ event: ExchangeEvent, in context: ExchangeContext) {
            if case .interim(let status, _) = event, status.code == 104 { count.withLock { $0 += 1 } }
        }
    }

    private static func bytes(_ count: Int, seed: UInt64) -> Data {
        var random = SeededGenerator(seed: seed)
        let block = Data((0..<100_003).map { _ in UInt8.random(in: 0...255, using: &random) })
        var data = Data(capacity: count + block.count)
        while data.count < count {
            withUnsafeBytes(of: random.next()) { data.append(contentsOf: $0) }
            data.append(block)
        }
        return data.prefix(count)
    }

    /// `CURLEW_DRAFT_SEEDS` kills and cuts more uploads than a usual run.
    private static let seeds =
        1...(ProcessInfo.processInfo.environment["CURLEW_DRAFT_SEEDS"].flatMap { UInt64($0) } ?? 1)

    private static var options: Upload.Options {
        var options = Upload.Options()
        options.maximumFailures = 30
        options.maximumWait = .milliseconds(20)
        return options
    }

    @Test("Twenty cuts at random places, from a file, from bytes and from a stream, with and without digests")
    func cuts() async throws {
        let seed = UInt64.random(in: 0..<1 << 32)
        let content = Self.bytes(12_000_000, seed: seed)
        let folder = try TemporaryFolder()
        let path = try folder.file("film.mp4", content)
        let stream = Upload.Source.stream {
            RequestBody.Chunks(
                AsyncStream { stream in
                    for start in Swift.stride(from: 0, to: content.count, by: 70_000) {
                        stream.yield(content[start..<min(content.count, start + 70_000)])
                    }
                    stream.finish()
                })
        }
        for (index, source) in [Upload.Source.file(path), .data(content), stream].enumerated() {
            for checksums in [false, true] {
                let fixture = try await Fixture(cuts: 20, seed: seed &+ UInt64(index))
                var options = Self.options
                options.checksums = checksums
                let confirmed = Locked<[Int64]>([])
                options.acknowledged = { offset in confirmed.withLock { $0.append(offset) } }
                let result = try await fixture.client.upload(source, to: .post("/files"), options: options)
                let report = try await fixture.report
                #expect(try fixture.digest(of: result.url) == MessageDigest.sha256(content).hexText, "seed \(seed)")
                #expect(report.violations == [], "seed \(seed), source \(index)")
                #expect(report.creations == 1 && report.cuts >= 10, "seed \(seed)")
                #expect(confirmed.withLock { $0 == $0.sorted() && $0.last == 12_000_000 })
                if let response = result.response {
                    let outcome = try JSONDecoder().decode(Outcome.self, from: response.value)
                    #expect(outcome.sha256 == MessageDigest.sha256(content).hexText)
                }
            }
        }
    }

    @Test("An interim response names the upload: a cut creation is continued and not repeated", arguments: 1...6)
    func creation(seed: UInt64) async throws {
        // The minimum makes the client send content with the creation; the first requests are cut.
        let fixture = try await Fixture(cuts: 6, seed: seed, least: 400_000)
        let content = Self.bytes(2_000_000, seed: seed)
        let urls = Locked<[String]>([])
        var options = Self.options
        options.storage = .custom { descriptor in
            if let url = descriptor?.urls.first { urls.withLock { $0.append(url) } }
        }
        let result = try await fixture.client.upload(.data(content), to: .post("/files"), options: options)
        let report = try await fixture.report
        #expect(try fixture.digest(of: result.url) == MessageDigest.sha256(content).hexText)
        #expect(report.violations == [] && report.creations == 1 && report.cuts >= 1)
        #expect(urls.withLock { Set($0) } == [result.url ?? ""])
    }

    @Test("Interim responses report what the server has while one request is running")
    func progress() async throws {
        let counter = InterimCounter()
        let fixture = try await Fixture(cuts: 0, seed: 1, most: 100_000_000, observers: [counter])
        let content = Self.bytes(8_000_000, seed: 1)
        let confirmed = Locked<[Int64]>([])
        var options = Self.options
        options.acknowledged = { offset in confirmed.withLock { $0.append(offset) } }
        try await fixture.client.upload(.data(content), to: .post("/files"), options: options)
        let report = try await fixture.report
        #expect(report.appends == 1 && report.interims > 10)
        // The observers of the client receive them too, each one.
        #expect(counter.count.withLock { $0 } == report.interims)
        let all = confirmed.withLock { $0 }
        #expect(all == all.sorted() && all.last == 8_000_000 && all.count > 3)
    }

    @Test("Five kills of the process and twenty cuts, and the file is the same", arguments: Self.seeds)
    func kills(seed: UInt64) async throws {
        let fixture = try await Fixture(cuts: 20, seed: seed, most: 2_000_000)
        let folder = try TemporaryFolder()
        let path = try folder.file("film.mp4", Self.bytes(100_000_000, seed: seed))
        let probe = try Program.built("TransferProbe")
        var random = SeededGenerator(seed: seed)
        var (killed, text) = (0, "")
        for round in 0..<60 where !text.hasPrefix("done") {
            let time = killed < 5 ? Int.random(in: 40..<120, using: &random) : -1
            let url = fixture.server.url
            (text, killed) = try await onThread { [killed] in
                let process = try CompanionProcess(probe, ["upload-draft", path, url, "\(time)"])
                let text = String(decoding: process.readToEnd(), as: UTF8.self)
                return (text, killed + (process.finish() & 0x7F == SIGKILL ? 1 : 0))
            }
            #expect(!text.hasPrefix("failed"), "round \(round): \(text)")
        }
        let report = try await fixture.report
        let url = text.trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(
            try fixture.digest(of: url) == MessageDigest.sha256(Data(contentsOf: URL(fileURLWithPath: path))).hexText)
        #expect(report.violations == [])
        print("DraftServer: \(killed) kills, \(report.cuts) cuts, \(report.interims) interim responses")
        #expect(killed >= 1 && report.cuts >= 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["film.mp4"])
    }
}
