// SPDX-License-Identifier: MIT

public import CurlewCore
public import Observation

/// A part of a screen that is loaded, whatever the type of its value: a `Loadable`, a `PagedLoadable`, or a group.
@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
@MainActor
public protocol LoadablePart: AnyObject, Observable, Sendable {
    /// Whether a load or refresh is in progress.
    var isLoading: Bool { get }
    /// The error if the last load or refresh failed; nil during a new one. Never a cancellation.
    var error: NetworkError? { get }
    /// Loads what has not been loaded. Returns when no load is in progress, or when the caller is cancelled.
    func load() async
    /// Loads what has not been loaded, when a view appears. Does nothing after a failure.
    func appeared() async
    /// Loads again, even if a value has been loaded. Returns as `load()` does.
    func refresh() async
    /// Loads again after a failure. Returns as `load()` does.
    func retry() async
    /// Cancels the load or refresh that is in progress.
    func cancel()
}

@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
extension LoadablePart {
    /// Loads what has not been loaded, when a view appears, and joins a load that is in progress. Does nothing after a
    /// failure.
    ///
    ///     .task { await user.appeared() }
    ///
    /// After a failure, only the user starts another load, however often views appear. Otherwise a modifier of a
    /// `Group` would load in an endless loop: the modifier applies to each view in the group, including a view that
    /// appears because the load has failed.
    public func appeared() async {
        if error == nil { await load() }
    }
}

/// A group of the parts of a screen that are loaded concurrently and can fail independently.
///
///     let dashboard = LoadableGroup(user, statistics, notifications)
///     await dashboard.load()
///
/// Each part keeps its own state; the group reports the combined state.
@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
public final class LoadableGroup: LoadablePart, Observable {
    /// The parts in the order in which they were passed.
    public let parts: [any LoadablePart]

    /// Creates a group of these parts.
    public init(_ parts: any LoadablePart...) {
        self.parts = parts
    }

    /// Whether a load or refresh of at least one part is in progress.
    public var isLoading: Bool { parts.contains { $0.isLoading } }

    /// The error of the first part that has one, in the order of ``parts``; nil if there is none.
    public var error: NetworkError? {
        for part in parts { if let error = part.error { return error } }
        return nil
    }

    /// Loads all parts that have not been loaded, concurrently. Returns when all have finished, or when the caller is
    /// cancelled.
    public func load() async { await all { await $0.load() } }

    /// Loads the parts that have not been loaded, concurrently, except those that have failed.
    public func appeared() async { await all { await $0.appeared() } }

    /// Loads all parts again, concurrently.
    public func refresh() async { await all { await $0.refresh() } }

    /// Loads the failed parts again, concurrently; the other parts do not change.
    public func retry() async {
        await all { if $0.error != nil { await $0.retry() } }
    }

    /// Cancels the loads and refreshes of all parts.
    public func cancel() {
        for part in parts { part.cancel() }
    }

    private func all(_ work: @escaping @MainActor (any LoadablePart) async -> Void) async {
        let tasks = parts.map { part in Task { await work(part) } }
        await withTaskCancellationHandler {
            for task in tasks { await task.value }
        } onCancel: {
            for task in tasks { task.cancel() }
        }
    }
}

@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
extension Loadable {
    /// Returns a loadable whose value `next` makes from the value of this one.
    ///
    ///     let question = Loadable { try await client.send(.question(id)) }
    ///     let avatar = question.then { try await client.send(.avatar(of: $0.owner)) }
    ///
    /// A load of the result first loads this loadable, unless it has been loaded. A refresh of the result refreshes
    /// both. If this loadable fails, the result fails with the same error, and with `.connectionLost` if this loadable
    /// has no value because its load was cancelled.
    public func then<Next: Sendable>(_ next: @escaping @MainActor (Value) async throws -> Next) -> Loadable<Next> {
        Loadable<Next>(source: { demand in
            switch demand {
            case .load: await self.load()
            case .refresh: await self.refresh()
            }
            switch self.state {
            case .loaded(let value, let freshness): return (try await next(value), freshness.joined(.now))
            case .failed(let error, _): throw error
            case .idle, .loading: throw CancellationError()
            }
        })
    }
}
