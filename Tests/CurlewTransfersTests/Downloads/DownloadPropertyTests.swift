// SPDX-License-Identifier: MIT

import CurlewTransfers
import TestServers
import Testing

/// Random servers that change the file, cut connections and answer ranges wrongly: what is saved is always one version,
/// complete, or nothing. `CURLEW_DOWNLOAD_SEEDS` tries more of them than a usual run.
@Suite(.timeLimit(.minutes(2)))
struct DownloadPropertyTests {
    private let folder: TemporaryFolder
    private var path: String { folder.appendingPathComponent("film.mp4").path }

    init() throws { folder = try TemporaryFolder() }

    private static let seeds =
        ProcessInfo.processInfo.environment["CURLEW_DOWNLOAD_SEEDS"].flatMap { UInt64($0) } ?? 100

    /// How a server answers a range.
    private enum Lie: CaseIterable {
        case none, complete, withoutTag, withoutRange, shifted, ignoresCondition, tooLong, declaresMore, declaresLess
        case smaller, several, coded, weak, unsatisfiable, unsatisfiableLength, unavailable, noContent, unknownLength
        case otherLength, endsEarly
    }

    private struct Server {
        var random: SeededGenerator
        let versions: [Data]
        var version = 0
        var requests = 0

        mutating func respond(to request: HTTPRequest) -> HTTPResponse {
            requests += 1
            if Int.random(in: 0..<8, using: &random) == 0 { version = min(version + 1, versions.count - 1) }
            let content = versions[version]
            let whole = Int64(content.count)
            var response = HTTPResponse(url: request.urlString)
            response.headers = [.eTag: tag, "Accept-Ranges": "bytes"]
            guard let range = request.headers[.range].flatMap({ ByteRange($0) })?.bytes(of: whole) else {
                if request.headers[.range] != nil { response.status = .rangeNotSatisfiable }
                return body(response, content)
            }
            let lie = Bool.random(using: &random) ? .none : Lie.allCases.randomElement(using: &random) ?? .none
            let isCurrent = request.headers["If-Range"] == tag
            let ignoresCondition = [.ignoresCondition, .withoutTag, .weak].contains(lie)
            guard lie != .complete, isCurrent || ignoresCondition else { return body(response, content) }
            response.status = .partialContent
            var bytes = range
            if lie == .shifted, range.count > 1 { bytes = range.lowerBound + 1..<range.upperBound }
            if lie == .smaller { bytes = range.lowerBound..<range.lowerBound + Int64((range.count + 1) / 2) }
            response.headers[.contentRange] = ContentRange(bytes, of: whole)?.description
            var part = Data(content[Int(bytes.lowerBound)..<Int(bytes.upperBound)])
            // Where the head gives the lie away, the bytes are wrong too.
            if [.tooLong, .declaresMore, .declaresLess, .several, .coded].contains(lie) {
                part = Data(repeating: 0xEE, count: part.count)
            }
            var length: Int64? = Int64(part.count)
            switch lie {
            case .withoutTag: response.headers.remove(.eTag)
            case .withoutRange: response.headers.remove(.contentRange)
            case .tooLong:
                part += Data(repeating: 0xEE, count: 1000)
                length = nil
            case .declaresMore: length = Int64(part.count) + 10
            case .declaresLess: length = Int64(part.count) - 1
            case .several: response.headers[.contentType] = "multipart/byteranges; boundary=b"
            case .coded: response.headers[.contentEncoding] = "gzip"
            case .weak: response.headers[.eTag] = "W/" + tag
            case .unsatisfiable, .unsatisfiableLength:
                response.status = .rangeNotSatisfiable
                response.headers[.contentRange] = "bytes */\(lie == .unsatisfiable ? whole : whole + 1)"
            case .unavailable: response.status = .serviceUnavailable
            case .noContent: response.status = .noContent
            case .unknownLength:
                response.headers[.contentRange] = "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/*"
            case .otherLength:
                response.headers[.contentRange] = "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/\(whole + 1)"
            case .endsEarly:
                part = part.prefix(part.count / 2)
                length = nil
            default: break
            }
            // Only the end of a part that is too long gives it away.
            return body(response, part, length: .some(length), canBreak: lie != .tooLong)
        }

        private var tag: String { "\"v\(version)\"" }

        /// A body in pieces, which breaks off in two of five cases.
        private mutating func body(
            _ head: HTTPResponse, _ bytes: Data, length: Int64?? = nil, canBreak: Bool = true
        ) -> HTTPResponse {
            var response = head
            let isCut = canBreak && Int.random(in: 0..<5, using: &random) < 2
            let end = isCut ? Int.random(in: 0...bytes.count, using: &random) : bytes.count
            var pieces: [Data] = []
            var start = 0
            while start < end {
                let next = min(end, start + Int.random(in: 1...100_000, using: &random))
                pieces.append(bytes[bytes.startIndex + start..<bytes.startIndex + next])
                start = next
            }
            let error = isCut ? NetworkError(.connectionLost(.requestMayHaveArrived)) : nil
            response.body = ResponseBody(
                ChunkSource(pieces, error: error), limit: .max, length: length ?? Int64(bytes.count))
            return response
        }
    }

    private func check(_ seed: UInt64, size: Int) async throws -> Bool {
        var random = SeededGenerator(seed: seed)
        let versions = (0..<3).map { _ in
            let block = Data((0..<10_007).map { _ in UInt8.random(in: 0...255, using: &random) })
            let count = size + Int.random(in: 0...1, using: &random)
            var data = Data(capacity: count + block.count + 8)
            while data.count < count {
                withUnsafeBytes(of: random.next()) { data.append(contentsOf: $0) }
                data.append(block)
            }
            return Data(data.prefix(count))
        }
        let server = Locked(Server(random: random, versions: versions))
        let client = APIClient.testing(
            ClosureTransport { request, _ in server.withLock { $0.respond(to: request) } },
            baseURL: "https://media.example", time: ManualClock(skipsWaits: true))
        let options = FileDownload.Options(existing: .replace)
        try? FileManager.default.removeItem(atPath: path)
        // A call that fails is followed by others, which continue what it has left.
        for _ in 0..<4 {
            let result = await Task { [path] in
                try await client.download(Request<Data>.get("/film"), to: path, options: options)
            }.result
            let file = try? Data(contentsOf: URL(fileURLWithPath: path))
            guard case .success = result else {
                #expect(file == nil, "seed \(seed)")
                continue
            }
            let isVersion = file.map { versions.contains($0) } ?? false
            #expect(isVersion, "seed \(seed)")
            let names = try folder.names
            #expect(names == ["film.mp4"], "seed \(seed)")
            return true
        }
        #expect(server.withLock { $0.requests } < 2000, "seed \(seed)")
        return false
    }

    @Test("A saved file is one version, complete")
    func property() async throws {
        var saved = 0
        for seed in 0..<Self.seeds where try await check(seed, size: 300_000) { saved += 1 }
        print("downloads: \(saved) of \(Self.seeds) saved")
        #expect(saved > Int(Self.seeds) / 2)
    }
}
