// SPDX-License-Identifier: MIT
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// The declarations of swift-service-lifecycle 2.6 that the bridge and its tests use, written from its documentation. The
// group installs no signal handlers, and ends its services together instead of in reverse order.

public import Logging
import Synchronization

public protocol Service: Sendable {
    func run() async throws
}

/// Waits until the service group of the task shuts down gracefully. Throws `CancellationError` if the task is cancelled.
public func gracefulShutdown() async throws {
    guard let signal = ShutdownSignal.current else {
        while true { try await Task.sleep(for: .seconds(3600)) }
    }
    for await _ in signal.waiter() {}
    try Task.checkCancellation()
}

public actor ServiceGroup {
    private let services: [any Service]
    private let signal = ShutdownSignal()

    public init(services: [any Service], logger: Logger) {
        self.services = services
    }

    public func run() async throws {
        let (services, signal) = (services, signal)
        try await ShutdownSignal.$current.withValue(signal) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for service in services { group.addTask { try await service.run() } }
                try await group.waitForAll()
            }
        }
    }

    public func triggerGracefulShutdown() async { signal.raise() }
}

/// Ends the sequences of all who wait, also of those who begin later.
final class ShutdownSignal: Sendable {
    @TaskLocal static var current: ShutdownSignal?

    private struct State: Sendable {
        var isRaised = false
        var waiters: [AsyncStream<Void>.Continuation] = []
    }

    private let state = Mutex(State())

    func waiter() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        let isRaised = state.withLock { state in
            if !state.isRaised { state.waiters.append(continuation) }
            return state.isRaised
        }
        if isRaised { continuation.finish() }
        return stream
    }

    func raise() {
        let waiters = state.withLock { state in
            state.isRaised = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.finish() }
    }
}
