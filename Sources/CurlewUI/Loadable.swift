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
    @ObservationIgnored private var settled = State.idle
    @ObservationIgnored private var work: SharedWork?
    @ObservationIgnored private var changes: [Change] = []
    @ObservationIgnored private var lastChange = 0

    /// A value that `work` gets.
    public convenience init(_ work: @escaping @MainActor () async throws -> Value) {
        self.init { _ in (try await work(), .now) }
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

    /// Loads anew, whatever is there or under way. Returns when the state is settled, or when the caller is cancelled.
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
            do { result = .success(try await source(demand)) } catch { result = .failure(error) }
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

    private func publish() {
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

@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
extension Loadable {
    /// Shows what a change will bring, has it done, and takes it back if that fails.
    ///
    ///     try await films.change { $0[index].isSeen = true } commit: { try await client.send(.markSeen(id)) }
    ///
    /// Several changes may be under way. One that fails takes back only what it did: the others are done again on the
    /// value without it. So `mutate` may run several times, also on a value that was loaded meanwhile and has the change
    /// already. While no value is there, only `commit` is done.
    ///
    /// Throws what `commit` throws, when the change has been taken back.
    public func change(
        _ mutate: @escaping @MainActor (inout Value) -> Void, commit: @MainActor () async throws -> Void
    ) async throws(NetworkError) {
        try await perform(mutate) {
            try await commit()
            return nil
        }
    }

    /// The same, for a server that tells the value as it is after the change: that one is shown in place of the guess.
    public func change(
        _ mutate: @escaping @MainActor (inout Value) -> Void, replacement: @MainActor () async throws -> Value
    ) async throws(NetworkError) {
        try await perform(mutate, replacement)
    }

    private func perform(
        _ mutate: @escaping @MainActor (inout Value) -> Void, _ commit: @MainActor () async throws -> Value?
    ) async throws(NetworkError) {
        lastChange += 1
        let change = Change(number: lastChange, mutate: mutate)
        changes.append(change)
        publish()
        defer { publish() }
        do {
            let answer = try await commit()
            // After a reset it concerns a value of somebody else.
            guard let place = changes.firstIndex(where: { $0.number == change.number }) else { return }
            changes.remove(at: place)
            keep(change, answer)
        } catch {
            changes.removeAll { $0.number == change.number }
            throw NetworkError(error)
        }
    }

    private struct Change {
        let number: Int
        let mutate: @MainActor (inout Value) -> Void
    }

    private func changed(_ value: Value?) -> Value? {
        guard var value else { return nil }
        for change in changes { change.mutate(&value) }
        return value
    }

    private func keep(_ change: Change, _ answer: Value?) {
        func kept(_ value: Value) -> Value {
            if let answer { return answer }
            var value = value
            change.mutate(&value)
            return value
        }
        switch settled {
        case .loaded(let value, let freshness): settled = .loaded(kept(value), freshness)
        case .failed(let error, let value?): settled = .failed(error, previous: kept(value))
        case .idle, .loading, .failed: break
        }
    }
}
