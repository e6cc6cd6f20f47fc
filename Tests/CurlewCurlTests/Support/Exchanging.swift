// SPDX-License-Identifier: MIT

import Testing

extension TransportConfiguration {
    /// Few connections, small buffers.
    init(connectionsPerHost: Int, bodyBuffer: Int = 1 << 20) {
        self.init(pool: TransportConfiguration.Pool(perHost: connectionsPerHost), bodyBuffer: bodyBuffer)
    }
}

extension TransportConfiguration.Pool.Snapshot {
    /// Whether no exchange is in progress. An event loop publishes the number of paused ones a moment later.
    var isIdle: Bool { active == 0 && paused == 0 && waiting == 0 }
}

extension HTTPResponse {
    /// The body's chunks joined, whatever their number.
    func bytes() async throws -> Data {
        var all = Data()
        for try await chunk in body { all += chunk }
        return all
    }
}

extension APIClient {
    /// A client over libcurl, by default without interceptors.
    static func curl(
        _ url: String?, _ pipeline: Pipeline = [], over transport: CurlTransport = CurlTransport(),
        configuration: APIClient.Configuration = APIClient.Configuration()
    ) -> APIClient {
        APIClient.testing(
            transport, baseURL: url.map { BaseURL(stringLiteral: $0) }, pipeline: pipeline,
            configuration: configuration)
    }
}

/// Bytes that no coding makes smaller, soon made.
func randomBytes(_ count: Int, seed: UInt64) -> Data {
    var random = SeededGenerator(seed: seed)
    let block = Data((0..<100_003).map { _ in UInt8.random(in: 0...255, using: &random) })
    var data = Data(capacity: count + block.count)
    while data.count < count {
        withUnsafeBytes(of: random.next()) { data.append(contentsOf: $0) }
        data.append(block)
    }
    return data.prefix(count)
}

/// The SHA-256 of a file, as text.
func sha256(ofFile path: String) throws -> String {
    MessageDigest.sha256(try Data(contentsOf: URL(fileURLWithPath: path))).hexText
}

extension MockResponse {
    /// A response written out, with its lines ended as HTTP ends them.
    static func lines(_ lines: String..., body: String = "") -> MockResponse {
        .raw(Data((lines.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8))
    }
}

/// Both texts of an error exist, and the one for users reveals nothing about the machinery.
func expectTexts(_ error: NetworkError, sourceLocation: SourceLocation = #_sourceLocation) {
    let forPeople = [error.message, error.recoverySuggestion ?? ""].joined(separator: " ")
    #expect(error.message.count > 10 && error.message.hasSuffix("."), sourceLocation: sourceLocation)
    for word in ["http", "://", "127.0.0.1", "localhost", "curl", "errno", "NetworkError", ".pem"] {
        #expect(!forPeople.contains(word), "\"\(forPeople)\"", sourceLocation: sourceLocation)
    }
    #expect(!error.detail.isEmpty, "\(error)", sourceLocation: sourceLocation)
    #expect(error.description.contains(error.label), sourceLocation: sourceLocation)
}

/// Runs `work` in a task of its own and says how it ended, once.
func outcome<Value: Sendable>(_ task: Task<Value, any Error>) async -> Result<Value, NetworkError> {
    do { return .success(try await task.value) } catch { return .failure(NetworkError(error)) }
}

extension Result where Failure == NetworkError {
    var reason: NetworkError.Reason? {
        if case .failure(let error) = self { error.reason } else { nil }
    }
}
