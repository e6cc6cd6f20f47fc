// SPDX-License-Identifier: MIT

public import CurlewHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The bytes of an answer: a sequence of chunks that can be read once.
///
/// Chunks arrive as the network delivers them, never empty, in order. Reading is what makes more come: when nobody
/// reads, the transport stops receiving. Over HTTP/2 the protocol lets a server send more before it hears of that: libcurl
/// allows up to 32 MiB for each body. A second iteration throws `NetworkError`.
/// Reading more than the exchange's limit (`Limits.responseBody`) throws `.limitExceeded(.responseBody)`. When the last
/// copy of an unread body goes away, or the reading task is cancelled, the transfer ends.
public struct ResponseBody: AsyncSequence, Sendable {
    /// A chunk, never empty.
    public typealias Element = Data

    let storage: Storage

    /// Bytes at hand. They count as one chunk.
    public init(_ data: Data) {
        self.init(data, limit: Limits.standard.responseBody)
    }

    package init(_ data: Data, limit: Int64, trailers: HTTPHeaders = [:]) {
        storage = Storage(.buffered(data), limit: limit, length: Int64(data.count), trailers: trailers)
    }

    /// A body fed by a transport.
    package init(_ source: any ResponseBodySource, limit: Int64, length: Int64?) {
        storage = Storage(.source(source), limit: limit, length: length)
    }

    /// A body of one's own, or another body wrapped. The base is pulled one chunk at a time, so back-pressure and
    /// cancellation pass through it.
    public init<Base: AsyncSequence & Sendable>(_ base: Base, length: Int64? = nil) where Base.Element == Data {
        let inner = base as? ResponseBody
        let content = Storage.Content.sequence(
            { CurlewCore.pull(from: base) }, of: inner, cancel: { inner?.cancel() })
        storage = Storage(content, limit: inner?.limit ?? Limits.standard.responseBody, length: length)
    }

    /// The bytes of `base`, which looks at `body` on its way: with its limit and length, and cancelled with it.
    package init<Base: AsyncSequence & Sendable>(_ base: Base, watching body: ResponseBody) where Base.Element == Data {
        let content = Storage.Content.sequence(
            { CurlewCore.pull(from: base) }, of: body, cancel: { body.cancel() })
        storage = Storage(content, limit: body.limit, length: body.declaredLength)
    }

    private init(_ storage: Storage) {
        self.storage = storage
    }

    /// No bytes, but the value that they would be decoded to. For stubs of values that cannot be encoded.
    package init(value: any Sendable) {
        storage = Storage(.value(value), limit: Limits.standard.responseBody, length: nil)
    }

    /// The value that stands in for bytes.
    package var value: (any Sendable)? {
        if case .value(let value) = storage.content { value } else { nil }
    }

    /// This body under another limit. Bytes at hand can be read again from it, anything else is wrapped.
    package func limited(to limit: Int64) -> ResponseBody {
        if value != nil { return self }
        if let bufferedData { return ResponseBody(bufferedData, limit: limit, trailers: trailers) }
        let content = Storage.Content.sequence({ CurlewCore.pull(from: self) }, of: self, cancel: cancel)
        return ResponseBody(Storage(content, limit: limit, length: declaredLength))
    }

    /// This body, and `end` called once when it is over; at once for bytes at hand.
    package func onEnd(_ end: @escaping @Sendable (ResponseBodyEnd) -> Void) -> ResponseBody {
        guard !isAtHand else {
            end(.complete)
            return self
        }
        return ResponseBody(Storage(.watched(self, Ending(end)), limit: limit, length: declaredLength))
    }

    /// The fields that came after the body (RFC 9110 §6.5), such as a checksum of it. Empty until the body has been read to
    /// its end, and without any: read the body first.
    ///
    /// Over HTTP/2 `CurlTransport` looks for them only where the head did not declare the length of the body.
    ///
    /// They never become part of the response's header fields, whatever their names are. A response over URLSession
    /// has none, and neither has one from a cache or a mock.
    public var trailers: HTTPHeaders { storage.trailers }

    /// The most bytes that reading gives before it throws.
    public var limit: Int64 { storage.limit }

    /// The number of bytes if the server declared it and nothing has decoded them since; else nil.
    public var declaredLength: Int64? { storage.length }

    /// The bytes, if they are all here already, without reading the body.
    package var bufferedData: Data? {
        if case .buffered(let data) = storage.content { data } else { nil }
    }

    /// A body to be told of, which holds neither a transfer nor much memory: what is at hand of up to 16 KiB, else nothing.
    var outline: ResponseBody {
        if let data = bufferedData, data.count <= 16 << 10 { return self }
        return ResponseBody(Storage(.buffered(Data()), limit: limit, length: declaredLength))
    }

    /// True when there is nothing to wait for.
    package var isAtHand: Bool { bufferedData != nil || value != nil }

    /// The whole body, at most `maximum` bytes (never more than `limit`).
    ///
    /// Throws `NetworkError`: `.limitExceeded(.responseBody)` beyond the limit, and what the transport reports for a
    /// body that breaks off.
    public func collect(upTo maximum: Int64? = nil) async throws -> Data {
        let most = Swift.min(maximum ?? limit, limit)
        if case .buffered(let data) = storage.content {
            try storage.claim()
            guard Int64(data.count) <= most else { throw Storage.overLimit(most) }
            return data
        }
        if let length = declaredLength, length > most {
            storage.cancel()
            throw Storage.overLimit(most)
        }
        var all = Data()
        for try await chunk in self {
            guard Int64(all.count) + Int64(chunk.count) <= most else {
                storage.cancel()
                throw Storage.overLimit(most)
            }
            guard all.isEmpty else {
                all.append(chunk)
                continue
            }
            all = chunk
            // Growing step by step would copy what has come again and again. What a server declares is believed so far.
            let room = Swift.min(declaredLength ?? 0, Self.mostReserved)
            if room > Int64(chunk.count) { all.reserveCapacity(Int(room)) }
        }
        return all
    }

    private static let mostReserved: Int64 = 16 << 20

    /// Ends the transfer if it still runs. What has not been read is lost; reading on throws.
    public func cancel() {
        storage.cancel()
    }

    /// Claims the body; the iterator of a body that was claimed before throws on its first `next`.
    public func makeAsyncIterator() -> Iterator {
        Iterator(storage)
    }

    /// Gives the chunks in order. Not for use by two tasks at once.
    public struct Iterator: AsyncIteratorProtocol {
        private let storage: Storage
        private var received: Int64 = 0
        private var pull: Result<ChunkPull, any Error>
        private var isFinished = false

        fileprivate init(_ storage: Storage) {
            self.storage = storage
            pull = Result { try storage.open() }
        }

        /// The next chunk, or nil at the end of the body.
        public mutating func next() async throws -> Data? {
            guard !isFinished else { return nil }
            do {
                guard let chunk = try await pull.get()() else {
                    isFinished = true
                    return nil
                }
                received += Int64(chunk.count)
                guard received <= storage.limit else { throw Storage.overLimit(storage.limit) }
                return chunk
            } catch {
                isFinished = true
                storage.cancel()
                throw error
            }
        }
    }
}

extension ResponseBody: CustomStringConvertible, CustomReflectable {
    /// How many bytes it has, as far as known; never its content.
    public var description: String {
        declaredLength.map { "\($0) bytes" } ?? "a body of unknown length"
    }

    /// Shows the description only, to debuggers and `dump` too.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
