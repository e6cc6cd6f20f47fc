// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting
import Foundation
import Testing

@testable import CurlewCommand

/// `curlew upload` against a tus server that is not ours.
@Suite(.timeLimit(.minutes(2)))
struct TusUploadTests {
    @Test func anUploadIsContinuedByTheSameCommand() async throws {
        let server: TusServer
        do { server = try await TusServer.start() } catch let failure as Program.Failure {
            print("skipped: \(failure)")
            return
        }
        let url = "http://127.0.0.1:\(server.port)/files/"
        let bytes = MockResponse.pattern(0..<120_000_000)
        let folder = try TemporaryFolder()
        _ = try folder.file("film.mp4", bytes)
        let streams = Streams()
        let words = ["upload", "film.mp4", url]
        let task = Task { await CommandLineTool.run(words, io: streams.io(terminal: true, folder: folder.path)) }
        #expect(await eventually { streams.text(\.error).contains("MB of 120 MB") })
        task.cancel()
        #expect(await task.value == 130, "\(streams.text(\.error))")
        let descriptor = folder.path + "/film.mp4.curlew-upload"
        let mode = try FileManager.default.attributesOfItem(atPath: descriptor)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(try stored(server) != [bytes])

        let run = await Run("upload", "film.mp4", url, terminal: true, folder: folder.path)
        #expect(run.code == 0 && run.error.contains("100 %"), "\(run.error)")
        // One file at the server: the second run did not begin again.
        #expect(try stored(server) == [bytes])
        #expect(!FileManager.default.fileExists(atPath: descriptor))
    }

    @Test func theTimeOfAnUploadIsLimited() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.on(nil, "/*") { _ in MockResponse.text("late").stalled(at: .beforeHead) }
        let folder = try TemporaryFolder()
        _ = try folder.file("f", "text")
        let run = await Run("upload", "f", server.url + "/up", "--max-time=0.3", folder: folder.path)
        #expect(run.code == 8, "\(run.error)")
    }

    @Test func theTimeOfStreamsIsLimited() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.on(.get, "/e") { _ in MockResponse.events([.event("one")]).stalled(at: .afterBytes(8)) }
        server.on(.get, "/ws") { _ in .webSocket { socket in while try await socket.next() != nil {} } }
        #expect(await Run("events", server.url + "/e", "--max-time=0.3").code == 8)
        let input = AsyncStream<Data?>.makeStream()
        let streams = Streams()
        var io = streams.io()
        io.read = {
            for await piece in input.stream { return piece }; return nil
        }
        #expect(await CommandLineTool.run(["ws", server.url + "/ws", "--max-time=0.3"], io: io) == 8)
        input.continuation.finish()
    }

    /// The contents of the uploads that the server stores.
    private func stored(_ server: TusServer) throws -> [Data] {
        let names = try FileManager.default.contentsOfDirectory(atPath: server.folder.path)
        return try names.filter { !$0.contains(".") }.map { name in
            try Data(contentsOf: URL(fileURLWithPath: server.folder.path + "/" + name))
        }
    }
}
