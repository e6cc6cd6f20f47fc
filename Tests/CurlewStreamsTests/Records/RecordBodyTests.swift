// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import CurlewJSON
import CurlewStreams
import CurlewTesting
import Foundation
import TestFixtures
import Testing

@Suite("Request bodies of records", .timeLimit(.minutes(1)))
struct RecordBodyTests {
    private static let people = [Person(id: 1, name: "Ann"), Person(id: 2, name: "Bo\n🦜")]

    private func stream<Value: Sendable>(_ values: [Value]) -> AsyncStream<Value> {
        AsyncStream { source in
            for value in values { source.yield(value) }
            source.finish()
        }
    }

    private func body(_ content: RequestContent, codecs: Codecs = .json) async throws -> (RequestBody, String, Data) {
        let client = APIClient.mock(MockTransport(), configuration: APIClient.Configuration(codecs: codecs))
        let request = try client.request(for: Request<Void>.post("/import", body: content))
        var all = Data()
        for try await chunk in try request.body.chunks() { all += chunk }
        return (request.body, request.headers[.contentType] ?? "", all)
    }

    @Test("Values are one line each")
    func lines() async throws {
        let (body, type, data) = try await body(.jsonLines(stream([1, 2])))
        #expect(!body.canReplay && body.length == nil)
        #expect(type == "application/jsonl")
        #expect(data == Data("1\n2\n".utf8))
    }

    @Test("A body of a closure or a collection can be sent again")
    func replay() async throws {
        let contents: [RequestContent] = [.jsonLines { stream([1, 2]) }, .jsonLines([1, 2])]
        for content in contents {
            let mock = MockTransport.sequence([.status(.serviceUnavailable), .status(.noContent)])
            let client = APIClient.mock(
                mock, pipeline: [.retry()], configuration: APIClient.Configuration(time: ManualClock.skippingWaits))
            try await client.send(Request<Void>.put("/import", body: content))
            #expect(mock.requests.map(\.body) == Array(repeating: Data("1\n2\n".utf8), count: 2))
        }
    }

    @Test("A body of a sequence is sent once")
    func once() async throws {
        let mock = MockTransport.sequence([.status(.serviceUnavailable)])
        let client = APIClient.mock(
            mock, pipeline: [.retry()], configuration: APIClient.Configuration(time: ManualClock.skippingWaits))
        await #expect(throws: NetworkError(statusCode: 503)) {
            try await client.send(Request<Void>.put("/import", body: .jsonLines(stream([1]))))
        }
        #expect(mock.requestCount == 1)
    }

    @Test("The client's codec encodes the values, each on one line")
    func codecs() async throws {
        struct Row: Encodable { let createdAt = 1, text = "a\r\nb" }
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        let (_, _, data) = try await body(.jsonLines([Row(), Row()]), codecs: Codecs(encoder: encoder))
        let lines = data.split(separator: 0x0A)
        #expect(lines.count == 2 && !data.contains(0x0D))
        for line in lines {
            let value = try JSONDecoder().decode([String: JSONValue].self, from: Data(line))
            #expect(value == ["created_at": 1, "text": "a\r\nb"])
        }
    }

    @Test("A value that cannot be encoded ends the call with .encoding and its number")
    func badValue() async throws {
        let client = APIClient.mock(MockTransport.sequence([.status(.noContent)]))
        let error = await #expect(throws: NetworkError.self) {
            try await client.send(Request<Void>.post("/import", body: .jsonLines(stream([1, Double.infinity]))))
        }
        #expect(error?.reason == .encoding)
        #expect(error?.detail.hasPrefix("Value 2 of the body cannot be encoded.") == true)
    }

    @Test("What a request body sends, a stream of records reads")
    func roundTrip() async throws {
        let mock = MockTransport.answering { call in
            .data(call.body, type: call.request.headers[.contentType].flatMap { MediaType($0) } ?? .json)
        }
        let values = stream(Self.people)
        let request = Request<HTTPResponse>(.post, "/echo", body: .jsonLines(values))
        #expect(try await APIClient.mock(mock).records(request, of: Person.self).collect() == Self.people)
    }
}
