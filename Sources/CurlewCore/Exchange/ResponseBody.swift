// SPDX-License-Identifier: MIT

public import CurlewFoundation
public import CurlewHTTP

/// The bytes of a response: a sequence of chunks that can be read once. See also `bytes`, `lines` and `collect`.
///
/// - The chunks arrive in order, as the network delivers them. Chunks from a transport are never empty.
/// - The transport receives only while the body is read. Over HTTP/2 a server can send more before flow control stops
///   it: libcurl allows up to 32 MiB for each body.
/// - A second iteration throws `.invalidRequest`.
/// - Reading more than the exchange's limit (`Limits.responseBody`) throws `.limitExceeded(.responseBody)`.
/// - The transfer ends when the last copy of an unread body is released, or when the reading task is cancelled.
public struct ResponseBody: AsyncSequence, MirroredByDescription, Sendable {
    let storage: Storage

    /// Creates a body from bytes in memory, with a limit of 64 MiB. A reader receives the bytes as one chunk.
    public init(_ data: Data) {
        self.init(data, limit: Limits.standard.responseBody)
    }

    package init(_ data: Data, limit: Int64, trailers: HTTPHeaders = [:]) {
        storage = Storage(.buffered(data), limit: limit, length: Int64(data.count), trailers: trailers)
    }

    /// Creates a body that a transport feeds.
    package init(_ source: any ResponseBodySource, limit: Int64, length: Int64?) {
        storage = Storage(.source(source), limit: limit, length: length)
    }

    /// Creates a body from a sequence, or wraps another body and keeps its limit. The base is pulled one chunk at a
    /// time, so back-pressure and cancellation pass through. `length` becomes `declaredLength`.
    public init<Base: AsyncSequence & Sendable>(_ base: Base, length: Int64? = nil) where Base.Element == Data {
        let inner = base as? ResponseBody
        let content = Storage.Content.sequence(
            { CurlewCore.pull(from: base) }, of: inner, cancel: { inner?.cancel() })
        storage = Storage(content, limit: inner?.limit ?? Limits.standard.responseBody, length: length)
    }

    private init(_ storage: Storage) {
        self.storage = storage
    }

    /// Creates a body that holds a decoded value instead of bytes, for stubs of values that cannot be encoded.
    package init(value: any Sendable) {
        storage = Storage(.value(value), limit: Limits.standard.responseBody, length: nil)
    }

    /// The decoded value that the body holds instead of bytes; nil for a body with bytes.
    package var value: (any Sendable)? {
        if case .value(let value) = storage.content { value } else { nil }
    }

    /// Returns this body with another limit. Buffered bytes can be read again from the new body. A body of any other
    /// kind is wrapped and can be read only once.
    package func limited(to limit: Int64) -> ResponseBody {
        if value != nil { return self }
        if let bufferedData { return ResponseBody(bufferedData, limit: limit, trailers: trailers) }
        let content = Storage.Content.sequence({ CurlewCore.pull(from: self) }, of: self, cancel: cancel)
        return ResponseBody(Storage(content, limit: limit, length: declaredLength))
    }

    /// Returns a body whose chunks `change` derives from those of this body. It has the limit, the length and the
    /// trailers of this body. Cancelling the new body cancels this one.
    package func changingChunks(
        _ change: @escaping @Sendable (@escaping ChunkPull) -> ChunkPull
    ) -> ResponseBody {
        let content = Storage.Content.sequence({ change(CurlewCore.pull(from: self)) }, of: self, cancel: cancel)
        return ResponseBody(Storage(content, limit: limit, length: declaredLength))
    }

    /// Returns a body that calls `end` once: when its end has been read, when reading fails, or when it is dropped. If
    /// the content is in memory, calls `end` immediately and returns this body.
    package func onEnd(_ end: @escaping @Sendable (ResponseBodyEnd) -> Void) -> ResponseBody {
        guard !isAtHand else {
            end(.complete)
            return self
        }
        return ResponseBody(Storage(.watched(self, OnceCallback(end)), limit: limit, length: declaredLength))
    }

    /// The trailer fields that followed the body (RFC 9110 §6.5), such as a checksum. Empty if there are none, and
    /// until the body has been read to its end.
    ///
    /// Over HTTP/2, `CurlTransport` reports trailers only if the head did not declare the length of the body. Trailers
    /// never become part of the response's header fields. Responses over URLSession, from a cache or from a mock have
    /// no trailers.
    public var trailers: HTTPHeaders { storage.trailers }

    /// The maximum number of bytes that can be read before reading throws.
    public var limit: Int64 { storage.limit }

    /// The length of the body in bytes; nil if the server did not declare it, or if a content coding was decoded.
    public var declaredLength: Int64? { storage.length }

    /// The bytes, if all of them are buffered. Does not read the body.
    package var bufferedData: Data? {
        if case .buffered(let data) = storage.content { data } else { nil }
    }

    /// A copy for observers that holds no transfer and little memory: with buffered bytes up to 16 KiB, otherwise
    /// without bytes.
    var outline: ResponseBody {
        if let data = bufferedData, data.count <= 16 << 10 { return self }
        return ResponseBody(Storage(.buffered(Data()), limit: limit, length: declaredLength))
    }

    /// Whether the complete content is in memory, as bytes or as a decoded value.
    package var isAtHand: Bool {
        switch storage.content {
        case .buffered, .value: true
        case .source, .sequence, .watched: false
        }
    }

    /// Reads and returns the complete body.
    ///
    /// Throws `NetworkError`: `.limitExceeded(.responseBody)` for a body with more than `maximum` or `limit` bytes, the
    /// error of the transport for a body that breaks off, and `.invalidRequest` if the body has already been read.
    ///
    /// - `maximum`: the maximum number of bytes. Default nil: `limit` applies alone.
    public func collect(upTo maximum: Int64? = nil) async throws -> Data {
        let bound = Swift.min(maximum ?? limit, limit)
        if case .buffered(let data) = storage.content {
            try storage.claim()
            guard Int64(data.count) <= bound else { throw Storage.overLimit(bound) }
            return data
        }
        if let length = declaredLength, length > bound {
            storage.cancel()
            throw Storage.overLimit(bound)
        }
        var all = Data()
        for try await chunk in self {
            guard Int64(all.count) + Int64(chunk.count) <= bound else {
                storage.cancel()
                throw Storage.overLimit(bound)
            }
            guard all.isEmpty else {
                all.append(chunk)
                continue
            }
            all = chunk
            // Reserving capacity avoids repeated copies while the buffer grows. A declared length may be wrong, so the
            // capacity has a maximum.
            let room = Swift.min(declaredLength ?? 0, Self.maximumReserved)
            if room > Int64(chunk.count) { all.reserveCapacity(Int(room)) }
        }
        return all
    }

    private static let maximumReserved: Int64 = 16 << 20

    /// Ends the transfer if it is still running. Unread bytes are dropped, and further reads throw `.cancelled`. Has no
    /// effect on a body in memory.
    public func cancel() {
        storage.cancel()
    }

    /// Creates the iterator of the body, which can be read only once. If the body has already been read, even in part,
    /// or has an iterator, the first call of `next` throws `.invalidRequest`.
    public func makeAsyncIterator() -> Iterator {
        Iterator(storage)
    }

    /// An iterator over the chunks, in order. Two tasks must not use it concurrently.
    public struct Iterator: AsyncIteratorProtocol {
        private let storage: Storage
        private var received: Int64 = 0
        private var pull: Result<ChunkPull, any Error>
        private var isFinished = false

        fileprivate init(_ storage: Storage) {
            self.storage = storage
            pull = Result { try storage.open() }
        }

        /// Returns the next chunk, or nil at the end of the body. Throws `.limitExceeded(.responseBody)` beyond the
        /// limit of the body, and the error of the transport if the body breaks off. Returns nil after an error.
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

    /// The number of bytes, if known; never the content.
    public var description: String {
        declaredLength.map { "\($0) bytes" } ?? "a body of unknown length"
    }
}
