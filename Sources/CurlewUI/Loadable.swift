// SPDX-License-Identifier: MIT

public import CurlewCore
public import Observation

/// A value that is loaded for a screen, with the state that the screen shows: progress, value and error.
///
///     @State var user = Loadable { try await client.send(.user(id: 1)) }
///
///     List { … }
///         .task { await user.appeared() }
///         .refreshable { await user.refresh() }
///
/// - Overlapping loads settle to the newest: a late result of an earlier load is dropped.
/// - The previous value stays visible during a refresh, and after one that failed.
/// - A refresh asks the server: the client calls in the work use `CachePolicy.validate`, unless they specify another
///   policy.
/// - Cancellation is never shown as an error. The state returns to the previous one.
/// - A cancelled caller stops waiting. The work is cancelled when the last caller that waits for it has stopped
///   waiting.
/// - The work is called on the main actor. `APIClient.send` leaves the main actor immediately: neither the network nor
///   decoding runs there.
@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
@MainActor @Observable
public final class Loadable<Value: Sendable> {
    /// The state to show.
    public enum State: Sendable {
        /// Nothing has been requested.
        case idle
        /// Work is under way; a previous value may be shown during it.
        case loading(previous: Value?)
        /// The value, and how fresh it is.
        case loaded(Value, Freshness)
        /// The last work failed; a previous value may still be shown.
        case failed(NetworkError, previous: Value?)
    }

    /// The state to show. It changes on the main actor only, and is observable.
    public private(set) var state = State.idle

    @ObservationIgnored private let source: @MainActor (Demand) async throws -> (Value, Freshness)
    /// The result of the last work that was not superseded, without pending changes.
    @ObservationIgnored var settled = State.idle
    @ObservationIgnored private var work: SharedWork?
    @ObservationIgnored var changes: [Change] = []
    @ObservationIgnored var lastChange = 0

    /// Creates a loadable whose value `work` loads.
    public convenience init(_ work: @escaping @MainActor () async throws -> Value) {
        self.init(source: { _ in (try await work(), .now) })
    }

    init(source: @escaping @MainActor (Demand) async throws -> (Value, Freshness)) {
        self.source = source
    }

    /// Loads the value unless it is there; joins a load that is under way. Returns when the state is settled, or when
    /// the caller is cancelled.
    public func load() async {
        if let work { return await settle(work) }
        if case .loaded = settled { return }
        await settle(begin(.load))
    }

    /// Loads the value again, even if it is there or a load is under way, and asks the server to validate cached
    /// responses. Returns when the state is settled, or when the caller is cancelled.
    public func refresh() async {
        await settle(begin(.refresh))
    }

    /// Loads again after a failure; otherwise the same as `load()`.
    public func retry() async {
        await load()
    }

    /// Cancels the work that is under way. The state returns to the previous one.
    public func cancel() {
        guard let work else { return }
        self.work = nil
        publish()
        work.end()
    }

    /// Cancels the work that is under way and discards the value: the state is `idle`. Use it for the data of a user
    /// who has signed out. Pending changes continue, but are no longer shown.
    public func reset() {
        let ended = work
        work = nil
        settled = .idle
        changes = []
        publish()
        ended?.end()
    }

    private func begin(_ demand: Demand) -> SharedWork {
        let earlier = work
        let begun = SharedWork()
        work = begun
        publish()
        earlier?.end()
        begun.start { [source, weak self, weak begun] in
            let result: Result<(Value, Freshness), any Error>
            do { result = .success(try await demand.told { try await source(demand) }) } catch {
                result = .failure(error)
            }
            if let self, let begun { self.finish(begun, result) }
        }
        return begun
    }

    private func finish(_ finished: SharedWork, _ result: Result<(Value, Freshness), any Error>) {
        guard work === finished else { return }
        work = nil
        switch result {
        case .success(let (value, freshness)): settled = .loaded(value, freshness)
        case .failure(let error):
            let error = NetworkError(error)
            if !error.isCancelled { settled = .failed(error, previous: settled.value) }
        }
        publish()
        finished.end()
    }

    private func settle(_ awaited: SharedWork) async {
        await SharedWork.settle(awaited, current: { work }, cancel: { cancel() })
    }

    func publish() {
        let value = changed(settled.value)
        if work != nil {
            state = .loading(previous: value)
            return
        }
        switch (settled, value) {
        case (.loaded(_, let freshness), let value?): state = .loaded(value, freshness)
        case (.failed(let error, _), let value): state = .failed(error, previous: value)
        default: state = .idle
        }
    }
}
