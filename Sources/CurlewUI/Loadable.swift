// SPDX-License-Identifier: MIT

public import CurlewCore
public import Observation

/// A value that is loaded for a screen, and everything the screen has to show about that.
///
///     @State var user = Loadable { try await client.send(.user(id: 1)) }
///
///     List { … }
///         .task { await user.appeared() }
///         .refreshable { await user.refresh() }
///
/// - Overlapping loads settle to the newest: a result that comes late for an earlier one is dropped.
/// - What is there stays there: a refresh shows the previous value until the new one comes, a failure too.
/// - A refresh asks the server: calls of a client in the work are `CachePolicy.validate`, unless they say otherwise.
/// - Cancellation never shows as an error. The state goes back to what it was.
/// - A caller that is cancelled leaves; the work ends when the last one that waits for it has left.
/// - The work is called on the main actor. `APIClient.send` leaves it at once: neither the network nor decoding is done
///   there.
@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
@MainActor @Observable
public final class Loadable<Value: Sendable> {
    /// What to show.
    public enum State: Sendable {
        /// Nothing has been asked for.
        case idle
        /// Work is under way; what was there before may be shown meanwhile.
        case loading(previous: Value?)
        /// The value, and how fresh it is.
        case loaded(Value, Freshness)
        /// The last work failed; what was there before may still be shown.
        case failed(NetworkError, previous: Value?)
    }

    /// What to show. Changes on the main actor only, and is observed.
    public private(set) var state = State.idle

    @ObservationIgnored private let source: @MainActor (Demand) async throws -> (Value, Freshness)
    /// How the last work that counted ended, without the changes that are under way.
    @ObservationIgnored var settled = State.idle
    @ObservationIgnored private var work: SharedWork?
    @ObservationIgnored var changes: [Change] = []
    @ObservationIgnored var lastChange = 0

    /// A value that `work` gets.
    public convenience init(_ work: @escaping @MainActor () async throws -> Value) {
        self.init(source: { _ in (try await work(), .now) })
    }

    init(source: @escaping @MainActor (Demand) async throws -> (Value, Freshness)) {
        self.source = source
    }

    /// Loads unless the value is there; joins a load that is under way. Returns when the state is settled, or when the
    /// caller is cancelled.
    public func load() async {
        if let work { return await settle(work) }
        if case .loaded = settled { return }
        await settle(begin(.load))
    }

    /// Loads anew, whatever is there or under way, and past what a cache of the client has. Returns when the state is settled, or when the caller is cancelled.
    public func refresh() async {
        await settle(begin(.refresh))
    }

    /// Loads once more after a failure; otherwise the same as `load()`.
    public func retry() async {
        await load()
    }

    /// Ends the work that is under way. The state goes back to what it was.
    public func cancel() {
        guard let work else { return }
        self.work = nil
        publish()
        work.end()
    }

    /// Ends the work that is under way, and forgets everything: the state is `idle`. For what belongs to somebody who has
    /// signed out. Changes under way go on, and show nothing any more.
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
