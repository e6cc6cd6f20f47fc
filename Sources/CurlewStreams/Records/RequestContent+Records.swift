// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// Bodies of records, which are encoded while they are sent.
extension RequestContent {
    /// Creates a body of JSON Lines from values that are produced while they are sent:
    ///
    ///     try await client.send(.post("/import", body: .jsonLines(rows)))
    ///
    /// - The client's codec for JSON encodes each value as one line, which ends with LF. Line breaks of an encoder that
    ///   formats its output become spaces.
    /// - The next value is requested when the transport has room for it. The body has no declared length, and each
    ///   value is sent at once.
    /// - The media type is `application/jsonl`. It is not registered; for a server that expects another one, such as
    ///   `application/x-ndjson`, set `Content-Type` in the headers of the call.
    /// - The request is sent once: it is never retried, because the values can be produced only once.
    /// - A value that cannot be encoded, and any error of `values`, ends the call with `.encoding`.
    public static func jsonLines<Values: AsyncSequence & Sendable>(_ values: Values) -> RequestContent
    where Values.Element: Encodable & Sendable {
        records(replay: .never) { values }
    }

    /// Creates a body of JSON Lines from values that can be produced again, so that the request can be retried.
    ///
    /// - `make`: returns the same values each time. Called once for each attempt. Its errors become `.encoding`.
    public static func jsonLines<Values: AsyncSequence & Sendable>(
        _ make: @escaping @Sendable () throws -> Values
    ) -> RequestContent where Values.Element: Encodable & Sendable {
        records(replay: .always, make)
    }

    /// Creates a body of JSON Lines from a collection. The values are encoded while they are sent, and the request can
    /// be retried.
    public static func jsonLines<Values: Collection & Sendable>(_ values: Values) -> RequestContent
    where Values.Element: Encodable & Sendable {
        records(replay: .always) { AsyncValues(base: values) }
    }

    private static func records<Values: AsyncSequence & Sendable>(
        replay: RequestBody.Replay, _ make: @escaping @Sendable () throws -> Values
    ) -> RequestContent where Values.Element: Encodable & Sendable {
        RequestContent(.jsonLines) { codecs in
            let codec = codecs.jsonCodec
            return .stream(replay: replay) {
                RequestBody.Chunks(EncodedRecords(base: try make(), codec: codec))
            }
        }
    }
}

/// The bytes of records, one chunk for each value.
private struct EncodedRecords<Base: AsyncSequence & Sendable>: AsyncSequence, Sendable
where Base.Element: Encodable & Sendable {
    typealias Element = Data

    let base: Base
    let codec: any ContentCodec

    func makeAsyncIterator() -> Iterator {
        Iterator(base: base.makeAsyncIterator(), codec: codec)
    }

    struct Iterator: AsyncIteratorProtocol {
        var base: Base.AsyncIterator
        let codec: any ContentCodec
        var count = 0

        @concurrent
        mutating func next() async throws -> Data? {
            guard let value = try await base.next() else { return nil }
            count += 1
            do {
                return try RecordText.line(value, using: codec)
            } catch {
                throw NetworkError(
                    .encoding, detail: "Value \(count) of the body cannot be encoded. \(NetworkError(error).detail)",
                    underlying: error)
            }
        }
    }
}

/// The elements of a collection as an asynchronous sequence.
private struct AsyncValues<Base: Collection & Sendable>: AsyncSequence, Sendable where Base.Element: Sendable {
    typealias Element = Base.Element

    let base: Base

    func makeAsyncIterator() -> Iterator {
        Iterator(base: base.makeIterator())
    }

    struct Iterator: AsyncIteratorProtocol {
        var base: Base.Iterator

        mutating func next() async -> Base.Element? {
            base.next()
        }
    }
}
