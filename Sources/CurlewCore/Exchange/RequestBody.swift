// SPDX-License-Identifier: MIT

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A recipe for the bytes of a request.
///
/// A recipe knows its length, if it has one, and whether it can be followed again. Retry, redirect and authentication
/// ask `canReplay` before they send a request twice; a body that can be produced only once is never silently sent
/// empty. Files are read while they are sent: no file is ever held in memory as a whole.
public struct RequestBody: Sendable {
    /// Whether a stream can be made again.
    public enum Replay: Sendable {
        /// The stream exists once. The request is sent at most once.
        case never
        /// `make` gives the same bytes each time it is called.
        case always
    }

    /// A piece with a known length: bytes at hand, or a range of a file.
    package enum Part: Sendable {
        case bytes(Data)
        case file(path: String, offset: Int64, length: Int64)

        package var length: Int64 {
            switch self {
            case .bytes(let data): Int64(data.count)
            case .file(_, _, let length): length
            }
        }
    }

    package enum Kind: Sendable {
        case empty
        /// Pieces sent one after the other.
        case parts([Part])
        /// A whole file, whose length is read when it is opened.
        case file(path: String)
        case stream(length: Int64?, replay: Replay, make: @Sendable () throws -> Chunks)
    }

    /// The bytes of a body, pulled one chunk at a time by whoever sends them.
    public struct Chunks: Sendable {
        /// Makes the function that gives the next chunk, or nil at the end. Called once for each time the body is sent.
        package let makeNext: @Sendable () -> ChunkPull

        /// Chunks of an asynchronous sequence. The next one is asked for when the previous one has left.
        public init<Base: AsyncSequence & Sendable>(_ base: Base) where Base.Element == Data {
            makeNext = { pull(from: base) }
        }

        init(_ makeNext: @escaping @Sendable () -> ChunkPull) {
            self.makeNext = makeNext
        }
    }

    package let kind: Kind
    /// What follows the bytes, if anything: see `trailing(_:fields:)`.
    package internal(set) var trailers: Trailers?

    /// No body, and no header fields about one.
    public static let empty = RequestBody(kind: .empty)

    /// Bytes at hand.
    public static func bytes(_ data: Data) -> RequestBody {
        RequestBody(kind: .parts([.bytes(data)]))
    }

    /// A file, opened when the body is sent and read as it leaves.
    ///
    /// A file that is missing or cannot be read makes the call throw `NetworkError` with reason `.invalidRequest`
    /// before anything is sent; one that shrinks while it is sent, `.encoding`.
    public static func file(_ path: String) -> RequestBody {
        RequestBody(kind: .file(path: path))
    }

    /// Bytes produced while they are sent.
    ///
    /// - `length`: the exact number of bytes, or nil to send them chunked. Producing fewer or more is an error. On Linux
    ///   the last byte therefore leaves only when the producer has ended.
    /// - `replay`: `.always` only if `make` gives the same bytes each time.
    /// - `make`: called once for each time the body is sent. The transport asks for the next chunk only when there is
    ///   room for it.
    public static func stream(
        length: Int64? = nil, replay: Replay = .never, make: @escaping @Sendable () throws -> Chunks
    ) -> RequestBody {
        RequestBody(kind: .stream(length: length, replay: replay, make: make))
    }

    /// Pieces of known length, sent in order.
    package static func parts(_ parts: [Part]) -> RequestBody {
        RequestBody(kind: .parts(parts))
    }

    /// True when there is nothing to send.
    public var isEmpty: Bool {
        if case .empty = kind { true } else { false }
    }

    /// The number of bytes, or nil when it is known only after sending (or, for a file, when it is opened).
    public var length: Int64? {
        switch kind {
        case .empty: 0
        case .parts(let parts): parts.reduce(0) { $0 + $1.length }
        case .file: nil
        case .stream(let length, _, _): length
        }
    }

    /// True when the same bytes can be produced again.
    public var canReplay: Bool {
        if case .stream(_, .never, _) = kind { false } else { true }
    }

    /// The bytes, when they are all in memory. For logging, signing and tests.
    public var data: Data? {
        switch kind {
        case .empty:
            return Data()
        case .parts(let parts):
            if case .bytes(let only)? = parts.first, parts.count == 1 { return only }
            var all = Data()
            for part in parts {
                guard case .bytes(let data) = part else { return nil }
                all.append(data)
            }
            return all
        case .file, .stream:
            return nil
        }
    }
}

extension RequestBody: CustomStringConvertible, CustomReflectable {
    /// What kind of body it is and how long; never its content.
    public var description: String {
        switch kind {
        case .empty: "empty"
        case .parts: "\(length ?? 0) bytes"
        case .file(let path): "file \(path)"
        case .stream(let length, _, _): length.map { "stream of \($0) bytes" } ?? "stream"
        }
    }

    /// Shows the description only, to debuggers and `dump` too.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
