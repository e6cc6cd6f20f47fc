// SPDX-License-Identifier: MIT

#if canImport(Combine)
public import Combine
public import CurlewCore
import Dispatch

extension APIClient {
    /// A publisher that sends `endpoint` for each subscriber anew, when it subscribes, and gives one value or one error.
    ///
    ///     client.publisher(for: GetUser(id: 1))
    ///         .sink { completion in … } receiveValue: { user in … }
    ///         .store(in: &subscriptions)
    ///
    /// Subscribe on any thread, by `subscribe(on:)` too. Values arrive on the main queue, unless `receive(on:)` says
    /// another. Cancelling the subscription, on any thread, cancels the call.
    public func publisher<E: Endpoint>(for endpoint: E) -> AnyPublisher<E.Response, NetworkError> {
        Self.publisher { send(endpoint, completion: $0) }
    }

    /// A publisher that sends an inline request for each subscriber anew.
    public func publisher<Value>(for request: Request<Value>) -> AnyPublisher<Value, NetworkError> {
        Self.publisher { send(request, completion: $0) }
    }

    /// A publisher that sends `route` for each subscriber anew, and decodes the answer as `type`.
    public func publisher<Value: Decodable & Sendable>(
        for route: some Route, as type: Value.Type
    ) -> AnyPublisher<Value, NetworkError> {
        Self.publisher { send(route, as: type, completion: $0) }
    }

    /// A publisher that sends `route` for nothing, for each subscriber anew.
    @_disfavoredOverload
    public func publisher(for route: some Route) -> AnyPublisher<Void, NetworkError> {
        Self.publisher { send(route, completion: $0) }
    }

    private static func publisher<Value: Sendable>(
        _ start: @escaping @Sendable (@escaping @MainActor (Result<Value, NetworkError>) -> Void) -> RequestHandle
    ) -> AnyPublisher<Value, NetworkError> {
        // Combine calls these closures where somebody subscribes or cancels, so none of them belongs to an actor.
        Deferred {
            let handle = Locked<RequestHandle?>(nil)
            return Future<Value, NetworkError> { promise in
                // A future takes its result on any thread; it is given once, by the call that this begins.
                nonisolated(unsafe) let promise = promise
                let started = start { promise($0) }
                handle.withLock { $0 = started }
            }
            .handleEvents(receiveCancel: { handle.withLock { $0 }?.cancel() })
        }
        // A call that ends before a subscriber on another thread is through would be told there.
        .receive(on: DispatchQueue.main)
        .eraseToAnyPublisher()
    }
}
#endif
