// SPDX-License-Identifier: MIT

public import CurlewCore
package import CurlewFoundation

/// The records of a response (JSON Lines, also known as NDJSON), as an asynchronous sequence of decoded values: one
/// JSON text in UTF-8 per line. A line ends with LF or CR LF, the last one also with the end of the body. Blank lines,
/// and a byte order mark at the beginning, are skipped.
///
///     for try await row in client.records(.get("/export"), of: Row.self) { show(row) }
///
/// - The records arrive in order, each as soon as its end has arrived. Iterating reads from the connection, so a slow
///   reader slows the server. At most one chunk and one record are in memory.
/// - The call is an ordinary call, with interceptors, credentials and logs. The total timeout limits only the time to
///   the head of the response. `Limits.responseBody` does not apply: `RecordStreamOptions.maximumRecordSize` limits one
///   record, and nothing limits their number. The response is never stored in a cache.
/// - Each iteration sends the request and reads its own response. A lost connection ends the iteration with an error:
///   the stream does not connect again, because it does not know where to continue.
/// - Status 204 has no records. A status that is not a success throws `.status`, another media type `.badResponse`.
/// - A record that cannot be decoded throws `.decoding` with the number of its line, or is skipped
///   (`RecordStreamOptions.skipsBadRecords`). A record that is too large throws `.limitExceeded(.responseBody)`.
/// - Cancelling a task that waits for a record, and releasing the iterator, close the connection at once. Cancelling
///   throws `.cancelled`.
/// - Errors are `NetworkError`, end the iteration and close the connection.
public struct RecordStream<Element: Decodable & Sendable>: AsyncSequence, Sendable {
    private let opening: RecordOpening
    private let skipped = Locked(0)

    init(_ opening: RecordOpening) {
        self.opening = opening
    }

    /// The number of bad records that the iterations of this stream, and of its copies, have skipped so far.
    public var skippedRecords: Int { skipped.withLock { $0 } }

    /// Returns an iterator. It sends the request when its first record is requested.
    public func makeAsyncIterator() -> Iterator {
        Iterator(source: RecordSource(opening, skipped: skipped))
    }

    /// Returns the records one after the other. Two tasks must not use it concurrently.
    public struct Iterator: AsyncIteratorProtocol {
        @usableFromInline let source: RecordSource

        /// Returns the next record; nil after the end of the response, and after an error. Throws the errors that
        /// ``RecordStream`` lists.
        @inlinable
        public mutating func next() async throws(NetworkError) -> Element? {
            while true {
                while let data = try source.record() {
                    do {
                        return try source.codec.decode(Element.self, from: data)
                    } catch {
                        try source.reject(data, error, Element.self)
                    }
                }
                guard try await source.receive() else { return nil }
            }
        }
    }
}

/// The settings of a stream of records. Every limit has a default.
public struct RecordStreamOptions: Sendable {
    /// Whether a response without a `Content-Type` of JSON Lines throws `.badResponse`. If false, the `Content-Type` is
    /// not checked, and the default `Accept` field allows any media type. Default true.
    ///
    /// The media types are `application/jsonl`, `application/x-ndjson`, `application/ndjson`,
    /// `application/x-jsonlines`, `application/jsonlines`, `application/json-lines`, `application/x-json-lines` and
    /// `application/stream+json`.
    public var checksContentType = true
    /// Whether a record that cannot be decoded is skipped and counted (`RecordStream.skippedRecords`). If false, it
    /// ends the stream with `.decoding`. Default false.
    public var skipsBadRecords = false
    /// The maximum size of a record in bytes, without its line feed. A larger record ends the stream with
    /// `.limitExceeded(.responseBody)`, also if bad records are skipped. Default 1 MiB.
    public var maximumRecordSize = 1 << 20
    /// The time without a byte from the server after which the stream throws `.timedOut(.idle)`. Replaces
    /// `Timeouts.idle`. Time in which the caller does not read does not count. Nil sets no limit. Default 5 minutes.
    public var readTimeout: Duration? = .seconds(300)

    /// Creates the default options.
    public init() {}
}

extension APIClient {
    /// Returns the records of the response to `route`, decoded as `type` with the client's codec for JSON as they
    /// arrive. Nothing is sent before the first record is requested, and each iteration sends the request.
    ///
    /// The request may have any method and body. It has the field `Accept: application/jsonl, application/x-ndjson`,
    /// unless the route sets `Accept`.
    public func records<Element: Decodable & Sendable>(
        _ route: some Route, of type: Element.Type = Element.self,
        options: RecordStreamOptions = RecordStreamOptions()
    ) -> RecordStream<Element> {
        RecordStream(RecordOpening(client: self, route: route, options: options))
    }

    /// Returns the records of the response to an inline request: `client.records(.get("/export"), of: Row.self)`.
    public func records<Response, Element: Decodable & Sendable>(
        _ request: Request<Response>, of type: Element.Type = Element.self,
        options: RecordStreamOptions = RecordStreamOptions()
    ) -> RecordStream<Element> {
        RecordStream(RecordOpening(client: self, route: request, options: options))
    }
}

/// Encoding of values as JSON Lines.
package enum RecordText {
    /// Returns the JSON of `value` as one line, which ends with LF. Throws the error of `codec`.
    package static func line(_ value: some Encodable, using codec: any ContentCodec) throws -> Data {
        var json = try codec.encode(value)
        // A JSON text contains line breaks only as white space, if the encoder formats its output.
        if json.contains(where: { $0 == 0x0A || $0 == 0x0D }) {
            json = Data(json.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 })
        }
        json.append(0x0A)
        return json
    }
}
