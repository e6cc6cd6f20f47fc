// SPDX-License-Identifier: MIT

import TestServers
import Testing

@testable import CurlewTransfers

/// `client.upload` against servers in memory: protocols, extensions, and what the caller sees.
@Suite(.timeLimit(.minutes(1)))
struct UploadTests {
    private static let source = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })

    @Test("The protocol is discovered, or named, and the result has the URL")
    func protocols() async throws {
        for named in [Upload.Resumption.discovered, .tus] {
            let server = UploadServerModel()
            let options = Upload.Options(named)
            let result = try await uploadClient(server.transport()).upload(
                .data(Self.source), to: .post("/files"), options: options)
            #expect(server.only?.bytes == Self.source)
            #expect(server.methods == (named == .discovered ? ["OPTIONS"] : []) + ["POST", "PATCH"])
            #expect(result.url == server.url(1) && result.length == 100_000)
            #expect(result.response?.status == .noContent)
            #expect(!"\(result)".contains("uploads"))
        }
    }

    @Test("Chunks and an empty source are sent")
    func chunks() async throws {
        let server = UploadServerModel()
        try await uploadClient(server.transport()).upload(
            .data(Self.source), to: .post("/files"), options: Upload.Options(.tus, chunkSize: 30_000))
        #expect(server.only?.bytes == Self.source && server.methods == ["POST", "PATCH", "PATCH", "PATCH", "PATCH"])
        let empty = UploadServerModel()
        let result = try await uploadClient(empty.transport()).upload(.data(Data()), to: .post("/files"))
        #expect(empty.only?.bytes == Data() && result.length == 0)
    }

    @Test("Without a protocol the upload fails, or is one ordinary request by choice")
    func plain() async throws {
        let bodies = Locked<[Data]>([])
        let mock = MockTransport.answering { call in
            guard call.method == .post else { return .status(404) }
            bodies.withLock { $0.append(call.body) }
            return .text("stored", status: .created)
        }
        let error = await uploadFailure {
            try await uploadClient(mock).upload(.data(Self.source), to: .post("/files"))
        }
        #expect(error?.reason == .badResponse && error?.hint?.contains("allowsPlain") == true)
        let last = Locked<TransferProgress?>(nil)
        let result = try await uploadClient(mock).upload(
            .data(Self.source), to: .post("/files"), options: Upload.Options(allowsPlain: true)
        ) { value in last.withLock { $0 = value } }
        #expect(bodies.withLock { $0 } == [Self.source] && result.url == nil && result.length == 100_000)
        #expect(result.response.map { String(decoding: $0.value, as: UTF8.self) } == "stored")
        #expect(last.withLock { $0?.isLast == true && $0?.completed == 100_000 })
    }

    @Test("Metadata is sent; a name that is invalid is refused before anything is sent")
    func metadata() async throws {
        var options = Upload.Options()
        options.fileName = "Über.txt"
        options.metadata = ["owner": "Ann", "empty": ""]
        let server = UploadServerModel()
        try await uploadClient(server.transport()).upload(.data(Data()), to: .post("/files"), options: options)
        let name = Data("Über.txt".utf8).base64EncodedString()
        let type = Data("text/plain".utf8).base64EncodedString()
        #expect(server.only?.metadata == "filename \(name),filetype \(type),empty,owner QW5u")
        options.metadata = ["a b": "c"]
        let error = await uploadFailure {
            try await uploadClient(server.transport()).upload(.data(Data()), to: .post("/files"), options: options)
        }
        #expect(error?.reason == .invalidRequest)
    }

    @Test("The request's fields create the upload and are not sent elsewhere, credentials neither")
    func origins() async throws {
        let server = UploadServerModel(origin: "https://storage.test")
        let seen = Locked<[(String, HTTPHeaders)]>([])
        let transport = server.transport { _, call in
            seen.withLock { $0.append((call.method.rawValue, call.request.headers)) }
            return .none
        }
        let configuration = APIClient.Configuration(headers: ["X-API-Key": "secret", .authorization: "Bearer x"])
        let client = APIClient.mock(transport, configuration: configuration)
        // A credential that the call requires is required at its own origin.
        let request = Request<Void>.post("/files", headers: ["X-Kind": "film"]).options {
            $0.authentication = .required
        }
        try await client.upload(.data(Self.source), to: request)
        for (method, headers) in seen.withLock({ $0 }) {
            #expect(headers["X-Kind"] == (method == "POST" ? "film" : nil), "\(method)")
            #expect(headers["X-API-Key"] == (method == "PATCH" ? nil : "secret"), "\(method)")
            #expect(headers[.authorization] == (method == "PATCH" ? nil : "Bearer x"), "\(method)")
        }
        let insecure = UploadServerModel(origin: "http://mock.test")
        let error = await uploadFailure {
            try await client.upload(.data(Self.source), to: .post("/files"), options: Upload.Options(.tus))
        }
        #expect(error == nil)
        let refused = await uploadFailure {
            try await uploadClient(insecure.transport()).upload(.data(Self.source), to: .post("/files"))
        }
        #expect(refused?.reason == .badResponse && insecure.received == 0)
    }

    @Test("A size beyond the limit of the server is refused before anything is sent, 413 has a hint")
    func tooLarge() async throws {
        let small = MockTransport.answering { _ in
            .status(204, headers: ["Tus-Version": "1.0.0", "Tus-Extension": "creation", "Tus-Max-Size": "10"])
        }
        let error = await uploadFailure {
            try await uploadClient(small).upload(.data(Self.source), to: .post("/files"))
        }
        #expect(error?.reason == .invalidRequest && small.requests.map(\.method) == [.options])
        let server = UploadServerModel()
        let transport = server.transport { _, call in call.method == .patch ? .status(413, [:]) : .none }
        let other = await uploadFailure {
            try await uploadClient(transport).upload(.data(Self.source), to: .post("/files"))
        }
        #expect(other?.statusCode == 413 && other?.hint?.contains("chunkSize") == true)
    }

    @Test("A lock is waited for as long as the server says, at most the maximum")
    func locked() async throws {
        let server = UploadServerModel()
        let clock = ManualClock()
        let transport = server.transport { number, call in
            number == 2
                ? .status(423, ["Retry-After": "5"]) : number == 3 ? .status(423, ["Retry-After": "999"]) : .none
        }
        let client = APIClient.mock(transport, configuration: .init(time: clock))
        async let result = client.upload(.data(Self.source), to: .post("/files"))
        for seconds in [5, 60] {
            try await clock.waitForSleepers(1)
            #expect(clock.advanceToNextSleeper() == .seconds(seconds))
        }
        _ = try await result
        #expect(server.only?.bytes == Self.source)
    }

    @Test("A file that changes during the upload ends it")
    func changing() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("film", Self.source)
        let server = UploadServerModel()
        let transport = server.transport { number, _ in
            if number == 2 { try Data("other".utf8).write(to: URL(fileURLWithPath: path)) }
            return .none
        }
        let error = await uploadFailure {
            try await uploadClient(transport).upload(
                .file(path), to: .post("/files"), options: Upload.Options(chunkSize: 50_000))
        }
        #expect(error?.reason == .encoding)
        let missing = await uploadFailure {
            try await uploadClient(transport).upload(.file(folder.path), to: .post("/files"))
        }
        #expect(missing?.reason == .invalidRequest)
    }

    @Test("A request with a body of its own is refused")
    func ownBody() async throws {
        let server = UploadServerModel()
        let error = await uploadFailure {
            try await uploadClient(server.transport()).upload(.data(Data()), to: .post("/files", body: .text("x")))
        }
        #expect(error?.reason == .invalidRequest && server.methods.isEmpty)
    }
}
