// SPDX-License-Identifier: MIT

public import CurlewCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// How fresh a loaded value is.
public struct Freshness: Hashable, Sendable {
    /// When the value was got from the server.
    public var date: Date
    /// It was kept, and the server might give another one by now.
    public var isStale: Bool

    /// A value that was got at `date`.
    public init(date: Date, isStale: Bool = false) {
        self.date = date
        self.isStale = isStale
    }

    /// A value that has just come.
    public static var now: Freshness { Freshness(date: Date()) }

    /// The less fresh of two: that of a value which is made of both.
    package func joined(_ other: Freshness) -> Freshness {
        Freshness(date: min(date, other.date), isStale: isStale || other.isStale)
    }
}

/// What a load is asked for.
enum Demand: Sendable {
    /// Whatever is there.
    case load
    /// What the server has now.
    case refresh

    /// Does `work` so that the calls of clients in it know what they are asked for: in a refresh they take from a cache what
    /// the server has confirmed, unless they have a word of their own about caches.
    @MainActor
    func told<Value>(_ work: @MainActor () async throws -> Value) async throws -> Value {
        guard case .refresh = self else { return try await work() }
        return try await TaskOptions.$change.withValue(Self.validate) { try await work() }
    }

    private static let validate: @Sendable (inout RequestOptions) -> Void = { options in
        switch options.cachePolicy {
        case .useProtocol, .returnStaleElseLoad: options.cachePolicy = .validate
        default: break
        }
    }
}

@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
extension Loadable.State {
    /// What can be shown, whatever is under way.
    public var value: Value? {
        switch self {
        case .idle: nil
        case .loading(let previous): previous
        case .loaded(let value, _): value
        case .failed(_, let previous): previous
        }
    }

    /// What the last work failed with; nil while another one is under way. Never a cancellation.
    public var error: NetworkError? {
        if case .failed(let error, _) = self { error } else { nil }
    }

    /// There is neither a value nor an error to show. A view of this is the only one whose appearance may begin a load.
    package var isWaiting: Bool { value == nil && error == nil }

    /// Work is under way.
    public var isLoading: Bool {
        if case .loading = self { true } else { false }
    }
}

@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
extension Loadable: LoadablePart {
    /// What can be shown, whatever is under way.
    public var value: Value? { state.value }
    /// What the last work failed with; nil while another one is under way. Never a cancellation.
    public var error: NetworkError? { state.error }
    /// Work is under way.
    public var isLoading: Bool { state.isLoading }
}
