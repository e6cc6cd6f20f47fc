// SPDX-License-Identifier: MIT

import ConformanceCases
import CurlewObservability
import CurlewTracing
import Testing

/// Credentials that an interceptor of the app attaches, at any position of the pipeline, against spans, logs and
/// cassettes.
@Suite(.serialized, .timeLimit(.minutes(2)))
struct PlacementSecretTests {
    private static let canary = "hunter2-canary+0123456789/=="

    @Test("No output has the value, wherever the interceptor is placed", arguments: Placement.allCases)
    func placements(placement: Placement) async throws {
        let canary = Self.canary
        let encoded = "hunter2-canary%2B0123456789%2F%3D%3D"
        // Each placement has some of the names, and all placements together have all of them.
        let number = Placement.allCases.count { $0 < placement }
        for (index, name) in IdentityWay.names.enumerated() where index % 15 == number % 15 {
            let field = HTTPField.Name(name)
            let spans = MemorySpanExporter()
            let entries = Locked<[LogEntry]>([])
            let sink: @Sendable (LogEntry) -> Void = { entry in entries.withLock { $0.append(entry) } }
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("placed-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let mock = MockTransport {
                $0.on(.get, "/me", .status(302, headers: [.location: "/end?token=\(encoded)", field: canary]))
                $0.on(
                    .get, "/end",
                    .json(
                        text: #"{"token":"\#(canary)","next":"https://a.test/?key=\#(encoded)"}"#,
                        status: 500, headers: [field: canary, .setCookie: "sid=\(canary)"]))
            }
            let path = folder.appendingPathComponent("c.har").path
            let cassette = try Cassette(path, mode: .recordAll, recording: mock)
            let base: Pipeline = [
                .logging(.body, sink: sink), .redirects(), .tracing(to: spans),
                .logging(.body, each: .request, sink: sink),
            ]
            let pipeline = base.adding(.onRequest(at: placement) { request, _ in request.headers[field] = canary })
            let client = APIClient.testing(cassette, baseURL: "https://mock.test", pipeline: pipeline)
            let error = await #expect(throws: NetworkError.self) {
                try await client.send(Request<Void>.get("/me").query(["access_token": canary]))
            }
            #expect(error?.reason == .status(500), "\(name): \(String(describing: error))")
            try await cassette.finish()
            let file = String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
            let found = entries.withLock { $0 }
            let log = found.map { "\($0) \($0.fields)" }.joined(separator: "\n")
            #expect(!spans.text.contains("hunter2") && spans.requests.count == 2, "\(name): \(spans.text)")
            #expect(!file.contains("hunter2"), "\(name): \(file)")
            #expect(!log.contains("hunter2"), "\(name): \(log)")
            let text = error.map { "\($0)" } ?? ""
            #expect(!text.contains("hunter2"), "\(text)")
        }
    }
}
