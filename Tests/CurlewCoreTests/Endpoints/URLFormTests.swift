// SPDX-License-Identifier: MIT

import CurlewTransfers
import Testing

/// What takes text for a URL or a path takes a `URL` too.
@Suite(.timeLimit(.minutes(1)))
final class URLFormTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("urls-\(UUID().uuidString)")
    private var file: URL { folder.appendingPathComponent("a b.txt") }
    private let web = URL(string: "https://other.example/x?y=1")

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data("here".utf8).write(to: file)
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    @Test("The URL of a file is sent as the file at its path")
    func bodies() throws {
        let client = APIClient.testing(RecordingTransport())
        let call = try client.request(for: Request<Void>.post("/x", body: .file(file)))
        let byPath = try client.request(for: Request<Void>.post("/x", body: .file(file.path)))
        #expect("\(call.body)" == "\(byPath.body)" && call.headers[.contentType] == "text/plain")
        let part = MultipartForm.Part.file("notes", url: file)
        #expect(part.fileName == "a b.txt" && part.mediaType?.essence == "text/plain")
        #expect(try client.request(for: Request<Void>.post("/x", body: .multipart([part]))).body.length ?? 0 > 4)
    }

    @Test("A file URL names where a response is written")
    func download() async throws {
        let target = folder.appendingPathComponent("c d.json")
        let client = APIClient.testing(RecordingTransport())
        #expect(
            try await client.download(.person(id: 1), to: target).value.byteCount == Int64(Person.annJSON.utf8.count))
        try await client.download(PeopleAPI.list, to: target, options: FileDownload.Options(existing: .replace))
        #expect(try Data(contentsOf: target) == Data(Person.annJSON.utf8))
    }

    @Test("A web URL names no file, and the call says so before anything is sent")
    func noFile() async throws {
        let url = try #require(web)
        let transport = RecordingTransport()
        let client = APIClient.testing(transport)
        let calls = [
            Request<Void>.post("/x", body: .file(url)),
            Request<Void>.post("/x", body: .multipart([.file("a", url: url)])),
        ]
        for call in calls {
            let error = await #expect(throws: NetworkError.self) { try await client.send(call) }
            #expect(error?.reason == .invalidRequest && error?.detail.contains("https") == true)
        }
        #expect(await failureReason { try await client.download(.people, to: url) } == .invalidRequest)
        #expect(transport.requests.isEmpty)
    }
}
