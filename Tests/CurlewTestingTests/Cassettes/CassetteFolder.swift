// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewTesting

/// A folder for the files of one test, removed with the value.
final class CassetteFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("cassettes-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String = "cassette.har") -> String { url.appendingPathComponent(name).path }

    func text(_ name: String = "cassette.har") throws -> String {
        String(decoding: try Data(contentsOf: url.appendingPathComponent(name)), as: UTF8.self)
    }

    func write(_ text: String, _ name: String = "cassette.har") throws {
        try Data(text.utf8).write(to: url.appendingPathComponent(name))
    }
}

/// Records calls to `mock`, saves, and returns the path.
func record(
    _ folder: CassetteFolder, _ mock: MockTransport, options: Cassette.Options = Cassette.Options(),
    mode: Cassette.Mode = .recordNew, _ body: (APIClient) async throws -> Void
) async throws -> String {
    let cassette = try Cassette(folder.path(), mode: mode, recording: mock, options: options)
    try await body(client(cassette))
    try await cassette.finish(allowsUnused: true)
    return folder.path()
}

func client(
    _ transport: any Transport, pipeline: Pipeline = .empty,
    configuration: APIClient.Configuration = APIClient.Configuration()
) -> APIClient {
    APIClient.testing(transport, baseURL: "https://api.test", pipeline: pipeline, configuration: configuration)
}

/// A transport for replays, which must never be used.
let noNetwork = MockTransport.answering { call in
    Issue.record("the network was used: \(call)")
    return .status(500)
}
