// SPDX-License-Identifier: MIT

#if canImport(Combine)
public import Combine
public import CurlewCore

extension APIClient {
    /// A publisher that sends `endpoint` for each subscriber anew, when it subscribes, and gives one value or one error.
    ///
    ///     client.publisher(for: GetUser(id: 1))
    ///         .sink { completion in … } receiveValue: { user in … }
    ///         .store(in: &subscriptions)
    ///
    /// Subscribe on the main actor, where values arrive; `subscribe(on:)` with another queue is a programming error.
    /// Cancelling the subscription, on any thread, cancels the call.
    @MainActor
    public func publisher<E: Endpoint>(for endpoint: E) -> AnyPublisher<E.Response, NetworkError> {
        Self.publisher { send(endpoint, completion: $0) }
    }

    /// A publisher that sends an inline request for each subscriber anew.
    @MainActor
    public func publisher<Value>(for request: Request<Value>) -> AnyPublisher<Value, NetworkError> {
        Self.publisher { send(request, completion: $0) }
    }

    /// A publisher that sends `route` for each subscriber anew, and decodes the answer as `type`.
    @MainActor
    public func publisher<Value: Decodable & Sendable>(
        for route: some Route, as type: Value.Type
    ) -> AnyPublisher<Value, NetworkError> {
        Self.publisher { send(route, as: type, completion: $0) }
    }

    @MainActor
    private static func publisher<Value: Sendable>(
        _ start: @escaping @MainActor (@escaping @MainActor (Result<Value, NetworkError>) -> Void) -> RequestHandle
    ) -> AnyPublisher<Value, NetworkError> {
        Deferred {
            let handle = Locked<RequestHandle?>(nil)
            return Future { promise in
                let started = start { promise($0) }
                handle.withLock { $0 = started }
            }
            // A subscription may be let go on any thread: this closure belongs to no actor.
            .handleEvents(receiveCancel: { @Sendable in handle.withLock { $0 }?.cancel() })
        }
        .eraseToAnyPublisher()
    }
}
#endif
