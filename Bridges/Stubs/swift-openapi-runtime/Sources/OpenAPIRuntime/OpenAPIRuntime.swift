// SPDX-License-Identifier: MIT
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// The declarations of swift-openapi-runtime 1.8 that the bridge and its tests use, written from its documentation.

public import HTTPTypes
import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

public protocol ClientTransport: Sendable {
    func send(
        _ request: HTTPRequest, body: HTTPBody?, baseURL: URL, operationID: String
    ) async throws -> (HTTPResponse, HTTPBody?)
}

/// A sequence of chunks, which can be read once or many times.
public final class HTTPBody: Sendable {
    public typealias ByteChunk = ArraySlice<UInt8>

    public enum IterationBehavior: Sendable {
        case single, multiple
    }

    public enum Length: Equatable, Sendable {
        case unknown
        case known(Int64)
    }

    public struct TooManyIterations: Error {}
    public struct TooManyBytes: Error {}

    public let iterationBehavior: IterationBehavior
    public let length: Length
    private let iterators: @Sendable () -> Iterator
    private let isRead = Mutex(false)

    public init<Bytes: AsyncSequence & Sendable>(
        _ sequence: Bytes, length: Length, iterationBehavior: IterationBehavior
    ) where Bytes.Element == ByteChunk {
        self.length = length
        self.iterationBehavior = iterationBehavior
        iterators = { Iterator(sequence.makeAsyncIterator()) }
    }

    /// Beside the other one, as in the package, so that callers choose between them.
    public convenience init<Bytes: AsyncSequence & Sendable>(
        _ sequence: Bytes, length: Length, iterationBehavior: IterationBehavior
    ) where Bytes.Element: Sequence & Sendable, Bytes.Element.Element == UInt8 {
        self.init(sequence.map { ArraySlice($0) }, length: length, iterationBehavior: iterationBehavior)
    }

    public init(_ bytes: some Collection<UInt8> & Sendable) {
        let chunk = ArraySlice(bytes)
        length = .known(Int64(chunk.count))
        iterationBehavior = .multiple
        iterators = {
            let stream = AsyncStream<ByteChunk> { continuation in
                continuation.yield(chunk)
                continuation.finish()
            }
            return Iterator(stream.makeAsyncIterator())
        }
    }
}

extension HTTPBody: AsyncSequence {
    public struct Iterator: AsyncIteratorProtocol {
        private let produce: () async throws -> ByteChunk?

        init<Base: AsyncIteratorProtocol>(_ base: Base) where Base.Element == ByteChunk {
            var base = base
            produce = { try await base.next() }
        }

        init(throwing error: any Error) { produce = { throw error } }

        public mutating func next() async throws -> ByteChunk? { try await produce() }
    }

    public func makeAsyncIterator() -> Iterator {
        let isSecond = isRead.withLock { isRead in
            defer { isRead = true }
            return isRead
        }
        if isSecond, iterationBehavior == .single { return Iterator(throwing: TooManyIterations()) }
        return iterators()
    }
}

extension Data {
    public init(collecting body: HTTPBody, upTo maxBytes: Int) async throws {
        self.init()
        for try await chunk in body {
            append(contentsOf: chunk)
            if count > maxBytes { throw HTTPBody.TooManyBytes() }
        }
    }
}
