// SPDX-License-Identifier: MIT

import CurlewCaching
public import CurlewCore
public import CurlewFoundation

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

    /// The freshness of a value that is received now.
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

    /// The error of the last load or refresh; nil during a new one. Never a cancellation.
    public var error: NetworkError? {
        if case .failed(let error, _) = self { error } else { nil }
    }

    /// Whether there is neither a value nor an error to show. Only in this state does a view start a load when it
    /// appears.
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
    /// The error of the last load or refresh; nil during a new one. Never a cancellation.
    public var error: NetworkError? { state.error }
    /// Whether a load or refresh is in progress.
    public var isLoading: Bool { state.isLoading }
}
