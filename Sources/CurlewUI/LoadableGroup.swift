// SPDX-License-Identifier: MIT

public import CurlewCore
public import Observation

/// Anything that is loaded for a screen, whatever its value: a `Loadable`, a `PagedLoadable`, or a group of them.
@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
@MainActor
public protocol LoadablePart: AnyObject, Observable, Sendable {
    /// Whether work is under way.
    var isLoading: Bool { get }
    /// The error of the last work. Never a cancellation.
    var error: NetworkError? { get }
    /// Loads what is missing. Returns when the state is settled, or when the caller is cancelled.
    func load() async
    /// Loads what is missing when a view has appeared. Does nothing after a failure.
    func appeared() async
    /// Loads again, even if a value is there.
    func refresh() async
    /// Loads again after a failure.
    func retry() async
    /// Cancels the work that is under way.
    func cancel()
}

@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
extension LoadablePart {
    /// Loads what is missing when a view has appeared, and joins work that is under way. Does nothing after a failure.
    ///
    ///     .task { await user.appeared() }
    ///
    /// A failure remains until the user tries again, however often views appear. Otherwise a modifier of a `Group`
    /// would load in an endless loop: it applies to each view in the group, also to a view that appears because the
    /// load has failed.
    public func appeared() async {
        if error == nil { await load() }
    }
}

/// Parts of a screen that are loaded concurrently and can fail independently.
///
///     let dashboard = LoadableGroup(user, statistics, notifications)
///     await dashboard.load()
///
/// Each part keeps its own state; the group reports the combined one.
@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
public final class LoadableGroup: LoadablePart, Observable {
    /// The parts in the order in which they were passed.
    public let parts: [any LoadablePart]

    /// Creates a group of these parts.
    public init(_ parts: any LoadablePart...) {
        self.parts = parts
    }

    /// Whether work is under way on at least one part.
    public var isLoading: Bool { parts.contains { $0.isLoading } }

    /// The error of the first part that has one.
    public var error: NetworkError? {
        for part in parts { if let error = part.error { return error } }
        return nil
    }

    /// Loads all missing parts concurrently.
    public func load() async { await all { await $0.load() } }

    /// Loads the missing parts concurrently, except those that have failed.
    public func appeared() async { await all { await $0.appeared() } }

    /// Loads all parts again, concurrently.
    public func refresh() async { await all { await $0.refresh() } }

    /// Loads the failed parts again; the others do not change.
    public func retry() async {
        await all { if $0.error != nil { await $0.retry() } }
    }

    /// Cancels the work that is under way in all parts.
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
    /// Creates a loadable that depends on this one: its load loads this one first, and its refresh refreshes both.
    ///
    ///     let question = Loadable { try await client.send(.question(id)) }
    ///     let avatar = question.then { try await client.send(.avatar(of: $0.owner)) }
    ///
    /// When this loadable fails, the dependent one fails with the same error.
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
