// SPDX-License-Identifier: MIT

import CurlewTransfers
import TestServers
import Testing

/// Servers that send something else than was asked for: the file is right, or there is none.
@Suite(.timeLimit(.minutes(1)))
struct HostileDownloadTests {
    private let folder: TemporaryFolder
    private var path: String { folder.appendingPathComponent("film.mp4").path }

    init() throws { folder = try TemporaryFolder() }

    private var names: [String] { get throws { try folder.names } }

    private func saved(_ name: String = "film.mp4") throws -> Data {
        try Data(contentsOf: folder.appendingPathComponent(name))
    }

    private static let film = Request<Data>.get("/film")
    fileprivate static let content = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) })

    /// Lets the second request receive `response`, once.
    private func second(_ server: RangeServer, _ response: @escaping @Sendable () -> HTTPResponse) {
        server.state.withLock { state in
            state.onRequest = { state in
                if state.requests.count == 2 { state.replies = [response()] }
            }
        }
    }

    @Test("A server that announces ranges and ignores them: one complete response is saved")
    func ignoredRanges() async throws {
        let server = RangeServer(Self.content) { state in
            state.ignoresRanges = true
            state.cuts = [100_000]
        }
        try await server.client().download(Self.film, to: path)
        #expect(try saved() == Self.content && names == ["film.mp4"])
        #expect(server.requests.count == 2)
    }

    /// How a server answers each range.
    enum Parts: CaseIterable, Sendable {
        case withoutRange, ofOtherPlace, coded, weak, withoutTag, unsatisfiable, several

        func change(_ response: inout HTTPResponse) {
            switch self {
            case .withoutRange: response.headers.remove(.contentRange)
            case .ofOtherPlace: response.headers[.contentRange] = "bytes 1-199999/300000"
            case .coded: response.headers[.contentEncoding] = "gzip"
            case .weak: response.headers[.eTag] = "W/\"v1\""
            case .withoutTag: response.headers.remove(.eTag)
            case .several: response.headers[.contentType] = "multipart/byteranges; boundary=x"
            case .unsatisfiable:
                response.status = .rangeNotSatisfiable
                response.headers[.contentRange] = "bytes */300000"
            }
        }
    }

    @Test("A server whose parts can never be used: one complete response is saved", arguments: Parts.allCases)
    func unusableParts(kind: Parts) async throws {
        let server = RangeServer(Self.content) { state in
            state.onPart = kind.change
            state.cuts = [100_000]
        }
        try await server.client().download(Self.film, to: path)
        #expect(try saved() == Self.content && names == ["film.mp4"])
        #expect(server.ranges == [nil, "bytes=100000-", nil])
    }

    @Test("A part without the entity tag of the first response is never used (RFC 9110 §15.3.7.3)")
    func withoutTag() async throws {
        let new = Data(repeating: 2, count: 300_000)
        let server = RangeServer(Self.content) { $0.cuts = [100_000] }
        server.state.withLock { state in
            state.onRequest = { state in
                guard state.requests.count == 2 else { return }
                state.replies = [
                    HTTPResponse(
                        status: .partialContent, headers: [.contentRange: "bytes 100000-299999/300000"],
                        body: ResponseBody(new.prefix(200_000)))
                ]
                state.content = new
                state.tag = "\"v2\""
            }
        }
        try await server.client().download(Self.film, to: path)
        #expect(try saved() == new)
    }

    @Test("A smaller part than was asked for is used, and the rest is requested")
    func smallParts() async throws {
        let server = RangeServer(Self.content) { $0.cuts = [100_000] }
        second(server) {
            HTTPResponse(
                status: .partialContent,
                headers: [.eTag: "\"v1\"", .contentRange: "bytes 100000-199999/300000"],
                body: ResponseBody(Self.content[100_000..<200_000]))
        }
        try await server.client().download(Self.film, to: path)
        #expect(try saved() == Self.content)
        #expect(server.ranges == [nil, "bytes=100000-", "bytes=200000-"])
    }

    /// A response to the request for the rest of the file that is not the rest.
    enum NoRest: CaseIterable, Sendable {
        case longer, longerUndeclared, shorter, several, accepted, noContent, resetContent

        var response: HTTPResponse {
            var headers: HTTPHeaders = [.eTag: "\"v1\"", .contentRange: "bytes 100000-299999/300000"]
            var body = ResponseBody(HostileDownloadTests.content)
            switch self {
            case .longer: break
            case .longerUndeclared:
                body = ResponseBody(ChunkSource([HostileDownloadTests.content]), limit: .max, length: nil)
            case .shorter: body = ResponseBody(Data(repeating: 0xEE, count: 150_000))
            case .several:
                headers[.contentType] = "Multipart/ByteRanges; boundary=x"
                body = ResponseBody(Data(repeating: 0x2D, count: 200_000))
            case .accepted: return HTTPResponse(status: .accepted, body: ResponseBody(Data()))
            case .noContent: return HTTPResponse(status: .noContent, body: ResponseBody(Data()))
            case .resetContent: return HTTPResponse(status: 205, body: ResponseBody(Data()))
            }
            return HTTPResponse(status: .partialContent, headers: headers, body: body)
        }
    }

    @Test("A response to a range that is not the rest of the file is never used", arguments: NoRest.allCases)
    func noRest(kind: NoRest) async throws {
        let server = RangeServer(Self.content) { $0.cuts = [100_000] }
        second(server) { kind.response }
        try await server.client().download(Self.film, to: path)
        #expect(try saved() == Self.content && names == ["film.mp4"])
    }

    @Test("A file that changes a fourth time fails, and leaves nothing under its name")
    func changesTooOften() async throws {
        let number = Locked(0)
        let server = RangeServer(Self.content) { state in
            state.cuts = (0..<1000).map { $0 % 2 == 0 ? 100_000 : 200_000 }
            state.onRequest = { state in
                state.tag = number.withLock { number in
                    number += 1
                    return "\"v\(number)\""
                }
            }
        }
        let error = await #expect(throws: NetworkError.self) {
            try await server.client().download(Self.film, to: path)
        }
        #expect(error?.reason == .badResponse && error?.detail.contains("changed on the server") == true)
        #expect(server.requests.count == 5)
        #expect(try !names.contains("film.mp4"))
    }

    @Test(
        "Bytes received before are no progress: a server that hardly moves is given up",
        arguments: [false, true])
    func noProgress(drips: Bool) async throws {
        let server = RangeServer(Self.content) { state in
            state.supportsRanges = drips
            state.cuts = (0..<1000).map { drips ? 1 : $0 % 2 == 0 ? 100_000 : 200_000 }
        }
        let error = await #expect(throws: NetworkError.self) {
            try await server.client().download(Self.film, to: path)
        }
        #expect(error?.reason == .connectionLost(.requestMayHaveArrived))
        #expect(server.requests.count <= 12)
    }

    @Test("A body that ends before its declared length is no file, without a validator too")
    func shortBody() async throws {
        let server = RangeServer(Data()) { state in
            state.replies = [
                HTTPResponse(body: ResponseBody(ChunkSource(["short"]), limit: .max, length: 10))
            ]
        }
        let error = await #expect(throws: NetworkError.self) {
            try await server.client().download(Self.film, to: path)
        }
        #expect(error?.reason == .connectionLost(.requestMayHaveArrived))
        #expect(try names.isEmpty)
    }

    @Test("A file without bytes is saved")
    func empty() async throws {
        let server = RangeServer(Data())
        let file = try await server.client().download(Self.film, to: path).value
        #expect(file.byteCount == 0 && server.requests.count == 1)
        #expect(try saved().isEmpty && names == ["film.mp4"])
    }

    @Test("A complete file that a killed process left is not touched by the next download")
    func linked() async throws {
        let server = RangeServer(Self.content) { $0.cuts = [299_999] + Array(repeating: 0, count: 8) }
        await #expect(throws: NetworkError.self) { try await server.client().download(Self.film, to: path) }
        // As if the process had been killed after `link`, before it removed the name of the partial file.
        let part = folder.appendingPathComponent("film.mp4.part")
        try Self.content.write(to: part)
        try FileManager.default.linkItem(at: part, to: folder.appendingPathComponent("film.mp4"))
        let new = Data(repeating: 9, count: 1000)
        let next = RangeServer(new) { state in
            state.tag = "\"v2\""
            state.cuts = [500] + Array(repeating: 0, count: 8)
        }
        await #expect(throws: NetworkError.self) {
            try await next.client().download(Self.film, to: path, options: FileDownload.Options(existing: .replace))
        }
        #expect(try saved() == Self.content)
        try await next.client().download(Self.film, to: path, options: FileDownload.Options(existing: .keepBoth))
        #expect(try saved() == Self.content && saved("film (1).mp4") == new)
    }

    @Test("Concurrent downloads with one suggested name for one folder are all kept")
    func collisions() async throws {
        let place = folder.path + "/"
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask {
                    let content = Data(repeating: UInt8(number), count: 100_000 + number)
                    let server = RangeServer(content) { state in
                        state.headers[.contentDisposition] = "attachment; filename=film.mp4"
                        state.cuts = [50_000]
                    }
                    let file = try await server.client().download(
                        Request<Data>.get("/film", query: ["n": number]), to: place,
                        options: FileDownload.Options(existing: .keepBoth)
                    ).value
                    #expect(try Data(contentsOf: URL(fileURLWithPath: file.path)) == content)
                }
            }
            try await group.waitForAll()
        }
        #expect(try names == (["film.mp4"] + (1...7).map { "film (\($0)).mp4" }).sorted())
    }

    @Test(
        "A server cannot name a file so that another origin's download continues it",
        arguments: [(".part", "_part"), (".PART.State", ".PART_State")])
    func plantedName(ending: String, expected: String) async throws {
        let evil = RangeServer(Data("evil".utf8)) { state in
            state.headers[.contentDisposition] = "attachment; filename=\"film.mp4\(ending)\""
        }
        try await evil.client().download(Self.film, to: folder.path + "/")
        #expect(try names == ["film.mp4" + expected])
        let server = RangeServer(Self.content)
        try await server.client().download(Self.film, to: path)
        #expect(try saved() == Self.content && server.ranges == [nil])
    }

    /// What others may have put where a download leaves its files.
    enum Planted: CaseIterable, Sendable {
        case otherPart, linkedRecord, linkedPart, openRecord, symbolicRecord, symbolicPart
    }

    @Test(
        "Files beside the target that are not those of an earlier download are not continued",
        arguments: Planted.allCases)
    func planted(kind: Planted) async throws {
        let cut = RangeServer(Self.content) { $0.cuts = [200_000] + Array(repeating: 0, count: 8) }
        await #expect(throws: NetworkError.self) { try await cut.client().download(Self.film, to: path) }
        let (part, record, own) = (path + ".part", path + ".part.state", folder.path + "/own")
        let left = try Data(contentsOf: URL(fileURLWithPath: kind == .linkedPart ? part : record))
        let (files, isSymbolic) = (FileManager.default, [.symbolicRecord, .symbolicPart].contains(kind))
        switch kind {
        case .otherPart:
            // The old one keeps its number.
            try files.moveItem(atPath: part, toPath: own)
            try Data(repeating: 0xEE, count: 200_000).write(to: URL(fileURLWithPath: part))
        case .openRecord: try files.setAttributes([.posixPermissions: 0o666], ofItemAtPath: record)
        case .linkedRecord, .linkedPart:
            try files.linkItem(atPath: kind == .linkedPart ? part : record, toPath: own)
        case .symbolicRecord, .symbolicPart:
            let name = kind == .symbolicPart ? part : record
            try files.moveItem(atPath: name, toPath: own)
            try files.createSymbolicLink(atPath: name, withDestinationPath: own)
        }
        let server = RangeServer(Self.content)
        let error = await failure { () async throws(NetworkError) in
            try await server.client().download(Self.film, to: path)
        }
        #expect(error?.reason == (isSymbolic ? .storage : nil))
        #expect(isSymbolic ? server.requests.isEmpty : server.ranges == [nil])
        if !isSymbolic { #expect(try saved() == Self.content) }
        if [.linkedRecord, .linkedPart, .symbolicRecord].contains(kind) {
            #expect(try saved("own") == left)
        }
    }
}
