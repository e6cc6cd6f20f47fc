// SPDX-License-Identifier: MIT

import Curlew
import CurlewJSON
import CurlewTesting
import Foundation

/// One record, of about 100 bytes.
struct Row: Codable, Sendable {
    var id: Int
    var name: String
    var email: String
    var score: Double
    var active: Bool
}

/// Records as JSON Lines, and each alone.
struct Body {
    let records: Int
    let lines: Data
    let documents: [Data]

    init(records: Int) {
        self.records = records
        documents = (0..<records).map { number in
            let text =
                #"{"id":\#(1_000_000 + number),"name":"Person number \#(number % 1000)","#
                + #""email":"person\#(number % 1000)@example.test","score":0.5,"active":true}"#
            return Data(text.utf8)
        }
        lines = documents.reduce(into: Data()) { $0 += $1 + [0x0A] }
    }
}

/// A piece of work that is measured; `run` returns the number of its elements.
struct Subject {
    enum Bar {
        case none
        /// At least so many megabytes a second.
        case speed(Double)
        /// At most this multiple of decoding alone.
        case ratio(Double)

        var text: String {
            switch self {
            case .none: ""
            case .speed(let least): "≥ \(Int(least)) MB/s"
            case .ratio(let most): "≤ \(most) × decoding"
            }
        }
    }

    let name: String
    let count: Int
    let bytes: Int
    var bar = Bar.none
    let run: () async throws -> Int

    static func all(_ body: Body) throws -> [Subject] {
        let decoder = FastJSONDecoder()
        let lines = client(body.lines, .jsonLines)
        let unread = Codecs(primary: NoCodec())
        let unreadLines = client(body.lines, .jsonLines, unread)
        return [
            Subject(name: "decoding alone", count: body.records, bytes: body.lines.count) {
                var count = 0
                for document in body.documents where try decoder.decode(Row.self, from: document).active { count += 1 }
                return count
            },
            Subject(name: "records of JSON Lines", count: body.records, bytes: body.lines.count, bar: .ratio(1.5)) {
                var count = 0
                for try await row in lines.records(.get("/"), of: Row.self) where row.active { count += 1 }
                return count
            },
            Subject(
                name: "JSON Lines, not decoded", count: body.records, bytes: body.lines.count, bar: .speed(300)
            ) {
                var count = 0
                for try await _ in unreadLines.records(.get("/"), of: Nothing.self) { count += 1 }
                return count
            },
            events(100, count: body.records, bar: .speed(300)),
            events(1000, count: body.records / 10, bar: .speed(300)),
            events(2, count: body.records),
            Subject(name: "`lines`", count: body.records, bytes: body.lines.count) {
                var count = 0
                for try await line in response(body.lines, .jsonLines).body.lines where !line.isEmpty {
                    count += 1
                }
                return count
            },
            Subject(name: "`bytes`", count: body.lines.count, bytes: body.lines.count) {
                var count = 0
                for try await byte in response(body.lines, .jsonLines).body.bytes { count += byte > 0 ? 1 : 0 }
                return count
            },
        ]
    }

    /// Events with data of this size.
    private static func events(_ size: Int, count: Int, bar: Bar = .none) -> Subject {
        let event = "data: \(String(repeating: "x", count: size))\n\n"
        let data = Data(String(repeating: event, count: count).utf8)
        let client = client(data, .eventStream)
        var options = EventStream.Options()
        options.reconnects = false
        return Subject(name: "events of \(size) bytes", count: count, bytes: data.count, bar: bar) { [options] in
            var count = 0
            for try await event in client.events(.get("/"), options: options) where event.data.utf8.count == size {
                count += 1
            }
            return count
        }
    }

    private static func client(_ data: Data, _ type: MediaType, _ codecs: Codecs = .json) -> APIClient {
        APIClient.mock(
            .answering { _ in response(data, type) }, configuration: APIClient.Configuration(codecs: codecs))
    }

    private static func response(_ data: Data, _ type: MediaType) -> HTTPResponse {
        .pieces(stride(from: 0, to: data.count, by: 65_536).map { data[$0..<min($0 + 65_536, data.count)] }, type: type)
    }
}

/// A value that reads nothing.
struct Nothing: Codable, Sendable {
    init(from decoder: any Decoder) {}
}

/// A codec that reads nothing, to measure the streams without decoding.
struct NoCodec: ContentCodec {
    let mediaType = MediaType.json

    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        try Value(from: NoDecoder())
    }

    func encode<Value: Encodable>(_ value: Value) throws -> Data { Data() }
}

private struct NoDecoder: Decoder {
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        throw NetworkError(.decoding)
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw NetworkError(.decoding) }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw NetworkError(.decoding) }
}
