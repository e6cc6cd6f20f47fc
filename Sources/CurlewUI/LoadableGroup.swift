// SPDX-License-Identifier: MIT

public import CurlewCore
public import Observation

/// Something that is loaded for a screen, whatever its value: a `Loadable`, a `PagedLoadable`, or a group of them.
@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
@MainActor
public protocol LoadablePart: AnyObject, Observable, Sendable {
    /// Work is under way.
    var isLoading: Bool { get }
    /// What the last work failed with. Never a cancellation.
    var error: NetworkError? { get }
    /// Loads what is not there. Returns when the state is settled, or when the caller is cancelled.
    func load() async
    /// For a view that has appeared: the same as `load()`, but after a failure it does nothing.
    func appeared() async
    /// Loads anew.
    func refresh() async
    /// Loads once more what failed.
    func retry() async
    /// Ends what is under way.
    func cancel()
}

@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
extension LoadablePart {
    /// For a view that has appeared: loads what is not there, joins what is under way, and after a failure does nothing.
    ///
    ///     .task { await user.appeared() }
    ///
    /// A failure stays until the person asks to try again, however often views appear. A modifier of a `Group` belongs to
    /// each view in it: one that appears because the load has failed would begin the next load, and so on without end.
    public func appeared() async {
        if error == nil { await load() }
    }
}

/// Parts of a screen that are loaded at the same time, each of which may fail alone.
///
///     let dashboard = LoadableGroup(user, statistics, notifications)
///     await dashboard.load()
///
/// The parts keep their own states, to be shown where they belong; the group tells what they have in common.
@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
public final class LoadableGroup: LoadablePart, Observable {
    /// The parts in their order.
    public let parts: [any LoadablePart]

    /// A group of these parts.
    public init(_ parts: any LoadablePart...) {
        self.parts = parts
    }

    /// Work is under way on one part at least.
    public var isLoading: Bool { parts.contains { $0.isLoading } }

    /// The error of the first part that has one.
    public var error: NetworkError? {
        for part in parts { if let error = part.error { return error } }
        return nil
    }

    /// Loads all parts that are not there, at the same time.
    public func load() async { await all { await $0.load() } }

    /// Loads the parts that are not there, but for those that have failed.
    public func appeared() async { await all { await $0.appeared() } }

    /// Loads all parts anew, at the same time.
    public func refresh() async { await all { await $0.refresh() } }

    /// Loads once more the parts that failed; the others stay as they are.
    public func retry() async {
        await all { if $0.error != nil { await $0.retry() } }
    }

    /// Ends what is under way, in all parts.
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
    /// A value that can only be loaded with this one: its load loads this one first, its refresh refreshes both.
    ///
    ///     let question = Loadable { try await client.send(.question(id)) }
    ///     let avatar = question.then { try await client.send(.avatar(of: $0.owner)) }
    ///
    /// When this one fails, so does the other, with the same error.
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
