// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting
import CurlewTracing
import Logging
import SwiftLogBridge
import Testing

@Suite(.timeLimit(.minutes(1)))
struct SwiftLogTests {
    private struct Entry: Sendable {
        let level: Logger.Level
        let message: String
        let metadata: Logger.Metadata
        let source: String
    }

    private struct Handler: LogHandler {
        let entries: Recorded<Entry>
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.MetadataValue? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(
            level: Logger.Level, message: Logger.Message, metadata: Logger.Metadata?, source: String, file: String,
            function: String, line: UInt
        ) {
            entries.append(
                Entry(level: level, message: message.description, metadata: metadata ?? [:], source: source))
        }
    }

    private let entries = Recorded<Entry>()

    private func client(
        _ level: LogEntry.Level = .line, each unit: LogEntry.Unit = .call, from logLevel: Logger.Level = .trace,
        _ answer: @escaping @Sendable (RecordedRequest) throws -> HTTPResponse
    ) -> APIClient {
        var logger = Logger(label: "client") { _ in Handler(entries: entries) }
        logger.logLevel = logLevel
        return .mock(
            .answering { try answer($0) }, pipeline: .standard.adding(.logging(to: logger, level, each: unit)),
            configuration: .withoutWaits)
    }

    @Test("A call that is retried has its levels, and its metadata the names of OpenTelemetry")
    func retriedCall() async throws {
        let client = client { $0.context.attempt == 1 ? .status(503) : .text("done") }
        let _: String = try await client.send(.get("/films/1", name: "film"))
        let entries = entries.values
        try #require(entries.count == 3)
        #expect(entries.map(\.level) == [.debug, .info, .info])
        #expect(entries.allSatisfy { $0.source == "Curlew" && $0.metadata["curlew.route"] == "film" })
        #expect(entries.allSatisfy { $0.metadata["curlew.call"] == entries[0].metadata["curlew.call"] })
        #expect(entries[0].metadata["http.request.method"] == "GET")
        #expect(entries[0].metadata["url.full"] == "https://mock.test/films/1")
        #expect(entries[0].message == "GET https://mock.test/films/1 (film)")
        #expect(entries[1].metadata["event.name"] == "retry")
        #expect(entries[2].metadata["http.response.status_code"] == "200")
        #expect(entries[2].metadata["attempts"] == "2")
    }

    @Test("A status from 400 on is a warning, and a call without a response is an error")
    func failures() async throws {
        let client = client {
            guard $0.path == "/missing" else { throw NetworkError(.unreachable) }
            return .status(.notFound)
        }
        _ = try? await client.send(Request<String>.get("/missing"))
        _ = try? await client.send(Request<String>.get("/away").options { $0.retry = .never })
        #expect(entries.values.map(\.level) == [.debug, .warning, .debug, .error])
        #expect(entries.values.last?.metadata["error.type"] == "unreachable")
    }

    @Test("A logger never receives a secret, in a message or in metadata")
    func redaction() async throws {
        let client = client(.body) { _ in .json(text: #"{"access_token": "hunter2"}"#) }
        let request = Request<JSONValue>.post(
            "/login", query: ["api_key": "hunter2"], json: ["password": "hunter2"],
            headers: ["Authorization": "Bearer hunter2"])
        _ = try await client.send(request)
        #expect(entries.values.count > 1)
        for entry in entries.values {
            #expect(!entry.message.contains("hunter2") && !"\(entry.metadata)".contains("hunter2"))
        }
        #expect(entries.values[0].message.contains("\n    Authorization: "))
    }

    @Test("A further attempt has its resend count")
    func resends() async throws {
        let client = client(each: .request) { $0.context.attempt == 1 ? .status(503) : .text("done") }
        let _: String = try await client.send(.get("/films/1"))
        let counts = entries.values.filter { $0.metadata["http.request.method"] != nil }
            .map { $0.metadata["http.request.resend_count"] }
        #expect(counts == [nil, "1"])
        #expect(entries.values.allSatisfy { $0.metadata["attempt"] == nil })
    }

    @Test("A logger receives no entries below its level")
    func levels() async throws {
        let client = client(from: .warning) { $0.path == "/missing" ? .status(.notFound) : .text("done") }
        _ = try? await client.send(Request<String>.get("/films/1"))
        _ = try? await client.send(Request<String>.get("/missing"))
        #expect(entries.values.map(\.level) == [.warning])
    }

    @Test("The provider of metadata has the identifiers of the current trace")
    func traceContext() throws {
        let context = try #require(
            TraceContext(traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"))
        #expect(Logger.MetadataProvider.traceContext.get().isEmpty)
        let metadata = TraceContext.with(context) { Logger.MetadataProvider.traceContext.get() }
        #expect(metadata == ["trace_id": "4bf92f3577b34da6a3ce929d0e0e4736", "span_id": "00f067aa0ba902b7"])
    }
}
