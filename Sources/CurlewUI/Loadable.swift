// SPDX-License-Identifier: MIT

import CurlewCaching
public import CurlewCore
public import CurlewFoundation
import CurlewHTTP
public import Observation

/// A value that a screen loads, with the state to show: progress, value and error.
///
///     @State var user = Loadable { try await client.send(.user(id: 1)) }
///
///     List { … }
///         .task { await user.appeared() }
///         .refreshable { await user.refresh() }
///
/// - A refresh cancels a load that is in progress, and the result of that load is dropped.
/// - The previous value stays visible during a refresh and after a failed refresh.
/// - A refresh contacts the server: in the client calls of the closure, `HTTPCache.Policy.validate` replaces
///   `.useProtocol` and `.returnStaleElseLoad`.
/// - A cancelled load causes no error: the state returns to the previous one.
/// - A cancelled caller stops waiting. The load is cancelled when the last waiting caller has stopped waiting.
/// - The closure is called on the main actor. `APIClient.send` leaves the main actor immediately: neither the network
///   nor decoding runs there.
@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
@MainActor @Observable
public final class Loadable<Value: Sendable> {
    /// The state of a loadable, for a screen to show.
    public enum State: Sendable {
        /// There is no value, and none has been requested.
        case idle
        /// A load or refresh is in progress. The previous value, if there is one, may be shown during it.
        case loading(previous: Value?)
        /// The value has been loaded, with this freshness.
        case loaded(Value, Freshness)
        /// The last load or refresh failed. The previous value, if there is one, may still be shown.
        case failed(NetworkError, previous: Value?)
    }

    /// The current state. It changes on the main actor only, and is observable.
    public private(set) var state = State.idle

    @ObservationIgnored private let source: @MainActor (Demand) async throws -> (Value, Freshness)
    /// The state after the last load that ended without being superseded. It does not include pending changes.
    @ObservationIgnored var settled = State.idle
    @ObservationIgnored private var work: SharedWork?
    @ObservationIgnored var changes: [Change] = []
    @ObservationIgnored var lastChange = 0

    /// Creates a loadable. Every load and refresh that starts calls `work` once. The value counts as received when
    /// `work` returns, and as not stale.
    public convenience init(_ work: @escaping @MainActor () async throws -> Value) {
        self.init(source: { _ in (try await work(), .now) })
    }

    init(source: @escaping @MainActor (Demand) async throws -> (Value, Freshness)) {
        self.source = source
    }

    /// Loads the value unless it has been loaded. Joins a load that is in progress, and loads again after a failure.
    /// Returns when no load is in progress, or when the caller is cancelled.
    public func load() async {
        if let work { return await settle(work) }
        if case .loaded = settled { return }
        await settle(begin(.load))
    }

    /// Loads the value again, and cancels a load that is in progress. The server validates cached responses. Returns
    /// when no load is in progress, or when the caller is cancelled.
    public func refresh() async {
        await settle(begin(.refresh))
    }

    /// Behaves like `load()`: loads again after a failure. Even after a failed refresh, cached responses may be used.
    public func retry() async {
        await load()
    }

    /// Cancels the load or refresh that is in progress. The state returns to the previous one.
    public func cancel() {
        guard let work else { return }
        self.work = nil
        publish()
        work.end()
    }

    /// Cancels the load or refresh that is in progress, and discards the value or error, so that the state is `idle`.
    /// Call this method when the user of the data signs out. The commits of pending changes continue, but the changes
    /// are no longer shown.
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
            do { result = .success(try await demand.apply { try await source(demand) }) } catch {
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
        case .failure(let error): settled = .failed(NetworkError(ofWork: error), previous: settled.value)
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

@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
extension Loadable {
    /// Creates a loadable that sends `endpoint`: `Loadable(GetUser(id: 1), from: client)`.
    ///
    /// The client's cache determines the freshness of the value. A refresh validates a cached response with the server.
    public convenience init<E: Endpoint>(_ endpoint: E, from client: APIClient) where E.Response == Value {
        self.init(source: { _ in
            let response = try await client.response(for: endpoint)
            return (response.value, Freshness(response))
        })
    }

    /// Creates a loadable that sends `request`: `Loadable(.user(id: 1), from: client)`. It behaves like a loadable for
    /// an endpoint.
    public convenience init(_ request: Request<Value>, from client: APIClient) {
        self.init(source: { _ in
            let response = try await client.response(for: request)
            return (response.value, Freshness(response))
        })
    }
}

extension Freshness {
    /// Creates the freshness of a response. The date follows from the age of a cached response, or from the Date field
    /// of a response that is served stale; for any other response it is `now`.
    init<Value>(_ response: Response<Value>, now: Date = Date()) {
        switch response.served {
        case .cache(let age, _): self.init(date: now.addingTimeInterval(-(age / .seconds(1))))
        case .stale: self.init(date: HTTPDate(response.headers[.date] ?? "")?.date ?? now, isStale: true)
        default: self.init(date: now)
        }
    }
}

/// The freshness of a loaded value: when it was received, and whether it is stale.
public struct Freshness: Hashable, Sendable {
    /// The date at which the value was received from the server.
    public var date: Date
    /// Whether the value is stale, so that the server may have a newer one.
    public var isStale: Bool

    /// Creates the freshness of a value that was received at `date`. By default, the value is not stale.
    public init(date: Date, isStale: Bool = false) {
        self.date = date
        self.isStale = isStale
    }

    /// The freshness of a value that is received now and is not stale.
    public static var now: Freshness { Freshness(date: Date()) }

    /// Returns the freshness of a value that is made from two values: the earlier date, and stale if either of them is
    /// stale.
    package func joined(_ other: Freshness) -> Freshness {
        Freshness(date: min(date, other.date), isStale: isStale || other.isStale)
    }
}

/// The value that a load requests.
enum Demand: Sendable {
    /// Any value, including a stored one.
    case load
    /// The server's current value.
    case refresh

    /// Runs `work` so that the client calls in it follow the demand. In a refresh, these calls use stored responses
    /// only after the server has validated them, unless a call sets another cache policy.
    @MainActor
    func apply<Value>(_ work: @MainActor () async throws -> Value) async throws -> Value {
        guard case .refresh = self else { return try await work() }
        return try await TaskOptions.$change.withValue(Self.validate) { try await work() }
    }

    private static let validate: @Sendable (inout RequestOptions, Timeouts) -> Void = { options, _ in
        switch options.cachePolicy {
        case .useProtocol, .returnStaleElseLoad: options.cachePolicy = .validate
        default: break
        }
    }
}

@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
extension Loadable.State {
    /// The value to show, also during a load and after a failure; nil if there is none.
    public var value: Value? {
        switch self {
        case .idle: nil
        case .loading(let previous): previous
        case .loaded(let value, _): value
        case .failed(_, let previous): previous
        }
    }

    /// The error if the last load or refresh failed; nil during a new one. Never a cancellation.
    public var error: NetworkError? {
        if case .failed(let error, _) = self { error } else { nil }
    }

    /// Whether there is neither a value nor an error to show, so that `LoadableView` shows its progress indicator and
    /// starts a load.
    package var isWaiting: Bool { value == nil && error == nil }

    /// Whether a load or refresh is in progress.
    public var isLoading: Bool {
        if case .loading = self { true } else { false }
    }
}

@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
extension Loadable: LoadablePart {
    /// The value to show, also during a load and after a failure; nil if there is none.
    public var value: Value? { state.value }
    /// The error if the last load or refresh failed; nil during a new one. Never a cancellation.
    public var error: NetworkError? { state.error }
    /// Whether a load or refresh is in progress.
    public var isLoading: Bool { state.isLoading }
}
