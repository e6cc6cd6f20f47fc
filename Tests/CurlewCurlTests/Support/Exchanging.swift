// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import CurlewTesting
import Foundation
import Testing

extension TransportConfiguration {
    /// Few connections, small buffers.
    init(connectionsPerHost: Int, bodyBuffer: Int = 1 << 20) {
        self.init(pool: TransportConfiguration.Pool(perHost: connectionsPerHost), bodyBuffer: bodyBuffer)
    }
}

extension HTTPResponse {
    /// The body's chunks joined, whatever their number.
    func bytes() async throws -> Data {
        var all = Data()
        for try await chunk in body { all += chunk }
        return all
    }
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
