// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// The interceptors of a client, from the caller to the wire.
///
///     let pipeline: Pipeline = [.logging(), .bearer { token }]     // exactly these, in this order
///     let pipeline = Pipeline.standard.adding(.bearer { token })   // put in its place
///
/// `print(client)` shows the order in force and what is wrong with it.
public struct Pipeline: Sendable, ExpressibleByArrayLiteral {
    /// From the caller to the wire.
    public private(set) var interceptors: [any Interceptor]

    /// A pipeline in exactly this order.
    public init(_ interceptors: [any Interceptor]) {
        self.interceptors = interceptors
    }

    /// A pipeline in exactly this order.
    public init(arrayLiteral elements: any Interceptor...) {
        self.init(elements)
    }

    /// No interceptors: requests go straight to the transport.
    public static let empty = Pipeline([])

    /// This pipeline with `interceptor` at its placement, behind those that are there already.
    public func adding(_ interceptor: any Interceptor) -> Pipeline {
        var copy = self
        let place = copy.interceptors.lastIndex { $0.placement <= interceptor.placement }.map { $0 + 1 } ?? 0
        copy.interceptors.insert(interceptor, at: place)
        return copy
    }

    /// This pipeline with `interceptor` instead of all that stand at its placement:
    /// `Pipeline.standard.replacing(.retry(.attempts(5)))`.
    public func replacing(_ interceptor: any Interceptor) -> Pipeline {
        removing(interceptor.placement).adding(interceptor)
    }

    /// This pipeline without the interceptors of one place.
    public func removing(_ placement: Placement) -> Pipeline {
        Pipeline(interceptors.filter { $0.placement != placement })
    }

    /// What cannot work in this order and with this client, one sentence each. Empty when all is well.
    public func problems(in setup: PipelineSetup = PipelineSetup()) -> [String] {
        let setup = declared(in: setup)
        var found: [String] = []
        for problem in interceptors.compactMap({ $0.problem(in: setup) }) + setup.problems
        where !found.contains(problem) { found.append(problem) }
        let placed = interceptors.filter { $0.placement != .custom }
        for (outer, inner) in zip(placed, placed.dropFirst()) where outer.placement > inner.placement {
            found.append(
                "\(outer.label) stands left of \(inner.label), but works only right of it."
                    + " Swap them, or build the pipeline with adding(_:).")
        }
        return found
    }
}

extension Pipeline {
    /// `setup` with what the interceptors tell of themselves.
    func declared(in setup: PipelineSetup) -> PipelineSetup {
        interceptors.reduce(into: setup) { $1.declare(in: &$0) }
    }
}

/// What an interceptor may know of the client and of the others when it checks how it is set up.
public struct PipelineSetup: Sendable {
    /// The origin of the base URL, if the client has one.
    public var clientOrigin: Origin?
    /// How long a whole call may take; nil without a limit, or when it is not known.
    public var totalTimeout: Duration?
    /// How long one attempt may take, as the pipeline says; nil without a limit of its own.
    public var attemptTimeout: Duration?
    /// How many interceptors try again.
    package var retries = 0
    /// The budgets from which repetitions are paid.
    package var budgets: Set<ObjectIdentifier> = []

    /// A setup to check against.
    public init(clientOrigin: Origin? = nil, totalTimeout: Duration? = nil) {
        self.clientOrigin = clientOrigin
        self.totalTimeout = totalTimeout
    }

    /// What is wrong with the whole rather than with one interceptor.
    var problems: [String] {
        guard budgets.count > 1 else { return [] }
        return ["What repeats calls draws on \(budgets.count) budgets. Give all of it one RetryBudget."]
    }
}

extension Pipeline: CustomStringConvertible {
    /// `logging → bearer → transport`
    public var description: String {
        (interceptors.map(\.label) + ["transport"]).joined(separator: " → ")
    }
}
