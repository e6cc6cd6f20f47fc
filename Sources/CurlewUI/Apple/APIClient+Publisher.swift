// SPDX-License-Identifier: MIT

#if canImport(Combine)
public import Combine
public import CurlewCore
import Dispatch

extension APIClient {
    /// Returns a publisher that sends `endpoint` once for each subscriber, and emits one value or one error.
    ///
    ///     client.publisher(for: GetUser(id: 1))
    ///         .sink { completion in … } receiveValue: { user in … }
    ///         .store(in: &subscriptions)
    ///
    /// Subscribers may subscribe on any thread, for example with `subscribe(on:)`. Values arrive on the main queue,
    /// unless `receive(on:)` specifies another scheduler. The subscription may be cancelled on any thread; this cancels
    /// the call.
    public func publisher<E: Endpoint>(for endpoint: E) -> AnyPublisher<E.Response, NetworkError> {
        Self.publisher { send(endpoint, completion: $0) }
    }

    /// Returns a publisher that sends `request` once for each subscriber, and emits one value or one error. It behaves
    /// like the publisher for an endpoint.
    public func publisher<Value>(for request: Request<Value>) -> AnyPublisher<Value, NetworkError> {
        Self.publisher { send(request, completion: $0) }
    }

    private static func publisher<Value: Sendable>(
        _ start: @escaping @Sendable (@escaping @MainActor (Result<Value, NetworkError>) -> Void) -> RequestHandle
    ) -> AnyPublisher<Value, NetworkError> {
        // Combine calls these closures on the thread that subscribes or cancels, so they must not be isolated to an
        // actor.
        Deferred {
            let handle = Locked<RequestHandle?>(nil)
            return Future<Value, NetworkError> { promise in
                // A future accepts its result on any thread, and the call that this closure starts delivers its result
                // once.
                nonisolated(unsafe) let promise = promise
                let started = start { promise($0) }
                handle.withLock { $0 = started }
            }
            .handleEvents(receiveCancel: { handle.withLock { $0 }?.cancel() })
        }
        // Without this, the result of a call that ends while another thread is still subscribing would arrive on that
        // thread.
        .receive(on: DispatchQueue.main)
        .eraseToAnyPublisher()
    }
}
#endif
