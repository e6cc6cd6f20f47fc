// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewFoundation

extension EventStream {
    /// The data of the events of a stream, decoded with the codecs of the call.
    ///
    /// Comments are skipped. Data that cannot be decoded ends the iteration with `.decoding` and closes the connection.
    /// The error has the data as the body of its response: `error.body(as: Problem.self)` decodes it as another type.
    public struct Decoded<Value: Decodable & Sendable>: AsyncSequence, Sendable {
        /// The stream of the events, for its state and `restart()`.
        public let events: EventStream
        let name: String?

        /// Returns an iterator that begins as the iterator of the events does.
        public func makeAsyncIterator() -> Iterator {
            Iterator(events: events.makeAsyncIterator(), name: name)
        }

        /// Returns the decoded data of one event after the other.
        public struct Iterator: AsyncIteratorProtocol {
            private var events: EventStream.Iterator?
            private let name: String?

            init(events: EventStream.Iterator, name: String?) {
                self.events = events
                self.name = name
            }

            /// Returns the next value, or nil after the end of the stream. Throws `NetworkError`, and returns nil
            /// afterwards.
            public mutating func next() async throws(NetworkError) -> Value? {
                while let event = try await events?.next() {
                    guard event.comment == nil, name == nil || event.name == name else { continue }
                    do throws(NetworkError) {
                        return try events?.decode(event)
                    } catch {
                        events = nil
                        throw error
                    }
                }
                return nil
            }
        }
    }

    /// Returns the data of the events, decoded as `type`.
    ///
    /// - `name`: the name of the events to decode; the others are skipped. Default nil: all events.
    public func decoding<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self, named name: String? = nil
    ) -> Decoded<Value> {
        Decoded(events: self, name: name)
    }
}
