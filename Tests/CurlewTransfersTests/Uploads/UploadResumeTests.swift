// SPDX-License-Identifier: MIT

import TestServers
import Testing

@testable import CurlewTransfers

/// Uploads that a later call continues: descriptors, what they survive, and what they do not.
@Suite(.timeLimit(.minutes(1)))
struct UploadResumeTests {
    private static let source = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 17) })
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = try folder.file("film.mp4", Self.source)
    }

    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
    }

    /// Leaves an upload of which the server has a part.
    private func interrupt(
        _ server: UploadServerModel, at request: Int = 2, bytes: Int = 40_000, _ options: Upload.Options
    ) async {
        let transport = server.transport { number, _ in
            if number == request { return .cut(bytes) }
            if number > request { throw NetworkError(.cancelled) }
            return .none
        }
        let error = await uploadFailure {
            try await uploadClient(transport).upload(.file(path), to: .post("/files"), options: options)
        }
        #expect(error?.isCancelled == true)
    }

    @Test("The same call continues after the end of the process")
    func besideSource() async throws {
        let server = UploadServerModel()
        let options = Upload.Options(storage: .besideSource)
        await interrupt(server, options)
        #expect(try names == ["film.mp4", "film.mp4.curlew-upload"])
        // What a process leaves that is killed while it writes the descriptor.
        _ = try folder.file("film.mp4.curlew-upload.new", "{")
        let values = Locked<[Int64]>([])
        let result = try await uploadClient(server.transport()).upload(
            .file(path), to: .post("/files"), options: options
        ) {
            value in values.withLock { $0.append(value.completed) }
        }
        #expect(server.only?.bytes == Self.source && server.received == Self.source.count)
        #expect(server.methods.suffix(2) == ["HEAD", "PATCH"] && result.url == server.url(1))
        #expect(values.withLock { $0.first == 40_000 && $0.last == 100_000 })
        #expect(try names == ["film.mp4"])
    }

    @Test("A cancelled upload can be continued, whichever request it was at", arguments: 0..<6, [false, true])
    func cancelled(request: Int, isProcessed: Bool) async throws {
        let server = UploadServerModel()
        var options = Upload.Options(chunkSize: 30_000)
        options.storage = .besideSource
        let task = Locked<Task<Void, any Error>?>(nil)
        let transport = server.transport { number, call in
            guard number == request else { return .none }
            task.withLock { $0 }?.cancel()
            return isProcessed ? .lostResponse : .lost
        }
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let running = Task { [path, options] in
            for await _ in gate {}
            try await uploadClient(transport).upload(.file(path), to: .post("/files"), options: options)
        }
        task.withLock { $0 = running }
        open.finish()
        let failed = await running.result
        #expect(throws: NetworkError.self) { try failed.get() }
        try await uploadClient(server.transport()).upload(.file(path), to: .post("/files"), options: options)
        #expect(server.state.withLock { $0.uploads.values.contains { $0.bytes == Self.source && $0.isComplete } })
        #expect(server.received == Self.source.count)
        #expect(try names == ["film.mp4"])
    }

    @Test("A descriptor is read from its file, survives coding, and has nothing to show")
    func descriptor() async throws {
        let server = UploadServerModel()
        let storage = Upload.Options.Storage.file(folder.path + "/kept.curlew-upload")
        await interrupt(server, Upload.Options(storage: storage))
        var descriptor = try #require(try Upload.Descriptor.saved(besideFile: folder.path + "/kept"))
        descriptor.file = nil
        let coded = try JSONDecoder().decode(Upload.Descriptor.self, from: JSONEncoder().encode(descriptor))
        #expect(coded == descriptor && descriptor.url == server.url(1))
        #expect(descriptor.path == path && descriptor.length == 100_000)
        #expect("\(descriptor)" == "tus upload to https://mock.test, 100000 bytes")
        #expect(!String(reflecting: descriptor).contains("uploads"))
        try await uploadClient(server.transport()).resume(coded, options: Upload.Options(storage: storage))
        #expect(server.only?.bytes == Self.source && server.received == Self.source.count)
        #expect(try names == ["film.mp4"])
    }

    @Test("A file that has changed begins anew")
    func changed() async throws {
        let server = UploadServerModel()
        let options = Upload.Options(storage: .besideSource)
        await interrupt(server, options)
        let other = Data(Self.source.reversed())
        try other.write(to: URL(fileURLWithPath: path))
        try await uploadClient(server.transport()).upload(.file(path), to: .post("/files"), options: options)
        #expect(server.only?.bytes == other)
    }

    @Test("Another endpoint, a damaged descriptor and a lost upload begin anew")
    func unusable() async throws {
        let options = Upload.Options(storage: .besideSource)
        let server = UploadServerModel()
        await interrupt(server, options)
        try await uploadClient(server.transport()).upload(.file(path), to: .post("/other"), options: options)
        #expect(server.only?.bytes == Self.source && server.received == 140_000)

        let second = UploadServerModel()
        await interrupt(second, options)
        second.state.withLock { $0.uploads = [:] }
        try await uploadClient(second.transport()).upload(.file(path), to: .post("/files"), options: options)
        #expect(second.only?.bytes == Self.source)

        let third = UploadServerModel()
        _ = try folder.file("film.mp4.curlew-upload", "{")
        let file = folder.path + "/film.mp4.curlew-upload"
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        try await uploadClient(third.transport()).upload(.file(path), to: .post("/files"), options: options)
        #expect(third.only?.bytes == Self.source)

        _ = try folder.file("film.mp4.curlew-upload", "{}")
        try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: file)
        let error = await uploadFailure {
            try await uploadClient(third.transport()).upload(.file(path), to: .post("/files"), options: options)
        }
        #expect(error?.reason == .storage && error?.hint != nil)
    }

    @Test("A descriptor that other programs changed never traps, and sends nothing to another scheme")
    func tampered() async throws {
        let server = UploadServerModel()
        await interrupt(server, Upload.Options(storage: .besideSource))
        var descriptor = try #require(try Upload.Descriptor.saved(besideFile: path))
        descriptor.file = nil
        let text = String(decoding: try JSONEncoder().encode(descriptor), as: UTF8.self)
        func decoded(_ text: String) -> Upload.Descriptor? {
            try? JSONDecoder().decode(Upload.Descriptor.self, from: Data(text.utf8))
        }
        #expect(decoded(text)?.isValid == true)
        var random = SeededGenerator(seed: 11)
        let numbers = ["-1", "0", "9223372036854775807", "50000", "100000", "null"]
        for _ in 0..<300 {
            var changed = text
            for _ in 0..<3 {
                let ranges = changed.ranges(of: /[0-9]+/)
                guard let range = ranges.randomElement(using: &random) else { continue }
                changed.replaceSubrange(range, with: numbers.randomElement(using: &random) ?? "")
            }
            guard let other = decoded(changed) else { continue }
            let client = uploadClient(MockTransport.answering { _ in .status(400) })
            _ = await uploadFailure { try await client.resume(other) }
        }
        for (part, other) in [("\"length\":100000", "\"length\":-1"), ("https:\\/\\/mock.test\\/uploads", "uploads")] {
            let damaged = try #require(decoded(text.replacing(part, with: other)))
            #expect(damaged != descriptor)
            let error = await uploadFailure { try await uploadClient(server.transport()).resume(damaged) }
            #expect(error?.reason == .invalidRequest)
        }
        let insecure = try #require(
            decoded(text.replacing("https:\\/\\/mock.test\\/uploads", with: "http:\\/\\/mock.test\\/uploads")))
        #expect(insecure != descriptor)
        let error = await uploadFailure { try await uploadClient(server.transport()).resume(insecure) }
        #expect(error?.reason == .invalidRequest)
    }

    @Test("One call at a time transfers an upload")
    func concurrent() async throws {
        let server = UploadServerModel()
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let transport = server.transport { number, _ in
            if number == 2 { for await _ in gate {} }
            return .none
        }
        let options = Upload.Options(storage: .besideSource)
        let running = Task { [path] in
            try await uploadClient(transport).upload(.file(path), to: .post("/files"), options: options)
        }
        try await yieldUntil { server.methods.count == 2 }
        let error = await uploadFailure {
            try await uploadClient(server.transport()).upload(.file(path), to: .post("/files"), options: options)
        }
        #expect(error?.reason == .refused(by: .uploadInProgress))
        open.finish()
        _ = try await running.value
        #expect(server.only?.bytes == Self.source)
        // The claim ends with the call.
        try await uploadClient(server.transport()).upload(.file(path), to: .post("/files"), options: options)
    }

    @Test("An upload is discarded on the server and beside the file; one that is gone is no error")
    func discard() async throws {
        let server = UploadServerModel()
        await interrupt(server, Upload.Options(storage: .besideSource))
        let descriptor = try #require(try Upload.Descriptor.saved(besideFile: path))
        let failing = server.transport { _, _ in .status(500, [:]) }
        let error = await uploadFailure { try await uploadClient(failing).discard(descriptor) }
        #expect(error?.statusCode == 500)
        #expect(try names == ["film.mp4", "film.mp4.curlew-upload"])
        try await uploadClient(server.transport()).discard(descriptor)
        #expect(server.state.withLock { $0.uploads.isEmpty })
        #expect(try names == ["film.mp4"] && Upload.Descriptor.saved(besideFile: path) == nil)
        try await uploadClient(server.transport()).discard(descriptor)
    }

    @Test("Bytes continue if the caller has them again")
    func bytes() async throws {
        let server = UploadServerModel()
        var options = Upload.Options(storage: .file(folder.path + "/kept.curlew-upload"))
        options.chunkSize = 30_000
        let transport = server.transport { number, _ in
            if number == 3 { return .cut(10_000) }
            if number > 3 { throw NetworkError(.cancelled) }
            return .none
        }
        _ = await uploadFailure {
            try await uploadClient(transport).upload(.data(Self.source), to: .post("/files"), options: options)
        }
        let descriptor = try #require(try Upload.Descriptor.saved(besideFile: folder.path + "/kept"))
        let error = await uploadFailure {
            try await uploadClient(server.transport()).resume(descriptor, options: options)
        }
        #expect(error?.reason == .invalidRequest)
        try await uploadClient(server.transport()).resume(descriptor, from: .data(Self.source), options: options)
        #expect(server.received == 100_000 && server.only?.bytes == Self.source)
    }

    @Test("A folder without permission is reported when the descriptor cannot be kept")
    func storage() async throws {
        let server = UploadServerModel()
        let options = Upload.Options(storage: .file(folder.path + "/missing/x.upload"))
        let error = await uploadFailure {
            try await uploadClient(server.transport()).upload(.file(path), to: .post("/files"), options: options)
        }
        #expect(error?.reason == .storage && server.received == 0)
        let none = await uploadFailure {
            try await uploadClient(server.transport()).upload(
                .data(Data()), to: .post("/files"), options: Upload.Options(storage: .besideSource))
        }
        #expect(none?.reason == .invalidRequest)
    }
}
